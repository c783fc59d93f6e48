#!lua
-- Removes an example of the playground.
-- KEYS     ids of its account, ids of those that are shared, its record
-- ARGV     id
-- Returns  1 if there was one, else 0
redis.call('SREM', KEYS[1], ARGV[1])
redis.call('SREM', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[3])
