#!lua
-- Keeps an example of the playground.
-- KEYS     ids of its account, ids of those that are shared, its record
-- ARGV     how many an account may have, id, 1 if shared, then fields and values, and its content last
-- Returns  1, or nil if the account has as many as it may
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[1]) then return false end
redis.call('HSET', KEYS[3], 'shared', ARGV[3], 'content', ARGV[#ARGV], unpack(ARGV, 4, #ARGV - 1))
redis.call('SADD', KEYS[1], ARGV[2])
if ARGV[3] == '1' then redis.call('SADD', KEYS[2], ARGV[2]) end
return 1
