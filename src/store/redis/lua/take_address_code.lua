#!lua
-- Takes the code that confirms an address. A wrong code changes nothing.
-- KEYS[1]  the address that the user has yet to confirm
-- ARGV     hash of the given code, time
-- Returns  the address, or nil if the code is wrong or has expired
--!include _clock
local now = clock(ARGV[2])
local code = redis.call('HMGET', KEYS[1], 'hash', 'expires', 'email')
if not code[1] or code[1] ~= ARGV[1] then return false end
redis.call('DEL', KEYS[1])
if tonumber(code[2]) <= now then return false end
return code[3]
