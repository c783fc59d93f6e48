#!lua
-- Writes a new token, if its user exists and has room for it.
-- KEYS     user, its list of tokens, the token
-- ARGV     token id, how many tokens the user may have, then fields and values of the token
-- Returns  1; 0 if there is no such user; 2 if the user already has that many tokens
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then return 2 end
redis.call('HSET', KEYS[3], unpack(ARGV, 3))
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
return 1
