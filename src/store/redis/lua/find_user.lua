#!lua
-- Reads an account after giving back its expired reservations.
-- KEYS     user, its reservations, and tokens whose reservations may be given back
-- ARGV     time
-- Returns  its fields, or nil; or {'more keys', token ids...}
--!include _clock
--!include _budget
--!include _give_back
local _, missing = give_back(KEYS[1], KEYS[2], tokens_from(3), (clock(ARGV[1])))
if missing then return more_keys(missing) end
local fields = redis.call('HMGET', KEYS[1], 'id', 'username', 'email', 'display', 'role', 'enabled', 'quota', 'used',
  'requests', 'created', 'budget', 'period', 'zone', 'spent', 'until', 'login', 'labels')
return fields[1] and fields
