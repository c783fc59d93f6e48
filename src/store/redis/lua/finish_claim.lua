#!lua
-- Last step of redeeming: ends the claim; a code whose credit was refused can be redeemed again.
-- KEYS     claims, the record of the code
-- ARGV     claim, 1 if it was credited
-- Returns  nothing
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 or ARGV[2] == '1' then return end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HSET', KEYS[2], 'status', 'enabled', 'user', 0, 'redeemed', 0) end
