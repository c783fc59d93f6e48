#!lua
-- Changes a redemption code that has not been used.
-- KEYS     the record of the code
-- ARGV     fields and values
-- Returns  1; nil if it does not exist; 'used'
local status = redis.call('HGET', KEYS[1], 'status')
if not status then return false end
if status == 'used' then return 'used' end
if #ARGV > 0 then redis.call('HSET', KEYS[1], unpack(ARGV)) end
return 1
