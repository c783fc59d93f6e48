-- Last step of redeeming: the claim is over; a code whose credit was refused can be redeemed again.
-- KEYS[1]  the codes; touches `:claims` and `:<id>` below it
-- ARGV     claim, code id, 1 when it was credited
-- Returns  nothing
if redis.call('ZREM', KEYS[1] .. ':claims', ARGV[1]) == 0 or ARGV[3] == '1' then return end
local key = KEYS[1] .. ':' .. ARGV[2]
if redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'status', 'enabled', 'user', 0, 'redeemed', 0) end
