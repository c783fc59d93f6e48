#!lua
-- Writes a new token, if its user is there and has room for it.
-- KEYS     user, its list of tokens, the token
-- ARGV     token id, how many the user may have, then fields and values of the token
-- Returns  1; 0 when there is no such user; 2 when it has as many as it may
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then return 2 end
redis.call('HSET', KEYS[3], unpack(ARGV, 3))
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
return 1
