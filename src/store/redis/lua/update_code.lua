-- Changes a redemption code that is not used.
-- KEYS[1]  the codes; touches `:<id>` below it
-- ARGV     id, then fields and values
-- Returns  1; nil when it is not there; 'used'
local key = KEYS[1] .. ':' .. ARGV[1]
local status = redis.call('HGET', key, 'status')
if not status then return false end
if status == 'used' then return 'used' end
if #ARGV > 1 then redis.call('HSET', key, unpack(ARGV, 2)) end
return 1
