#!lua
-- Drops log entries by number.
-- KEYS     entries, times
-- ARGV     their numbers
-- Returns  how many were dropped
redis.call('HDEL', KEYS[1], unpack(ARGV))
return redis.call('ZREM', KEYS[2], unpack(ARGV))
