#!lua
-- Deletes a token. Its reservations stay, and are settled on the user.
-- KEYS     the user's list of tokens, the token
-- ARGV     token id
-- Returns  {the hash of its key, that of the one before or nil}, or nil when it is not there
local hashes = redis.call('HMGET', KEYS[2], 'hash', 'oldhash')
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[1], ARGV[1])
return hashes[1] and hashes
