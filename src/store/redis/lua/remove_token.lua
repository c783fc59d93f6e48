#!lua
-- Deletes a token. Its reservations stay, and are settled on the user.
-- KEYS     the user's list of tokens, the token
-- ARGV     token id
-- Returns  the hash of its key, or nil when it is not there
local hash = redis.call('HGET', KEYS[2], 'hash')
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[1], ARGV[1])
return hash
