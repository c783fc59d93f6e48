#!lua
-- Appends an entry to a log. Each entry has a number; the hash of entries maps it to ` <record>`, and the zset of times orders
-- the numbers by time.
-- KEYS     sequence, entries, times
-- ARGV     time in ms, record with a blank before it
-- Returns  how many entries there are
-- Leading zeros make entries of the same millisecond sort by their numbers.
local number = string.format('%015.0f', redis.call('INCR', KEYS[1]))
redis.call('HSET', KEYS[2], number, ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[1], number)
return redis.call('ZCARD', KEYS[3])
