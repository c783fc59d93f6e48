#!lua
-- Notes a place that a user has logged in from.
-- KEYS[1]  zset of the user's places by expiry
-- ARGV     hash of the place, time, how long it is kept in ms, how many are kept
-- Returns  1
--!include _clock
local now = clock(ARGV[2])
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -(tonumber(ARGV[4]) + 1))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
