#!lua
-- Changes a redemption code that has not been used.
-- KEYS     the record of the code
-- ARGV     the length of what follows: fields and values that it must have; then fields and values to write
-- Returns  1; nil if it does not exist; 'used'; 'changed'
local status = redis.call('HGET', KEYS[1], 'status')
if not status then return false end
if status == 'used' then return 'used' end
local first = 2 + tonumber(ARGV[1])
for i = 2, first - 1, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 'changed' end
end
if #ARGV >= first then redis.call('HSET', KEYS[1], unpack(ARGV, first)) end
return 1
