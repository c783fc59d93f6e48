#!lua
-- Deletes a token. Its reservations stay and are settled with the user.
-- KEYS     the user's list of tokens, the token
-- ARGV     token id
-- Returns  {hash of its key, hash of its previous key or nil}, or nil if it does not exist
local hashes = redis.call('HMGET', KEYS[2], 'hash', 'oldhash')
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[1], ARGV[1])
return hashes[1] and hashes
