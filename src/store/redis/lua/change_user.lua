#!lua
-- Changes an account; its balance changes from its present value, whatever else is running.
-- KEYS     user, its reservations, and tokens whose reservations may be given back
-- ARGV     time, largest balance, 'set' or 'add' or '', quota to set or add, role and password hash that it must have or '',
--          the length of what follows: fields and values that it must have; then fields and values to write
-- Returns  {name, its claim, address, its claim, all before the change, then {fields and values after it}}; nil if it does not exist;
--          'changed'; 'quota_range'; or {'more keys', token ids...}
--!include _clock
--!include _budget
--!include _give_back
local _, missing = give_back(KEYS[1], KEYS[2], tokens_from(3), (clock(ARGV[1])))
if missing then return more_keys(missing) end
local user = redis.call('HMGET', KEYS[1], 'quota', 'username', 'email', 'role', 'password', 'username_claim',
  'email_claim')
if not user[1] then return false end
for i = 5, 6 do
  if ARGV[i] ~= '' and ARGV[i] ~= user[i - 1] then return 'changed' end
end
local first = 8 + tonumber(ARGV[7])
for i = 8, first - 1, 2 do
  -- Records of older releases lack some fields, which then have the defaults that the caller has judged.
  local has = redis.call('HGET', KEYS[1], ARGV[i])
  if has and has ~= ARGV[i + 1] then return 'changed' end
end
local quota = tonumber(user[1])
if ARGV[3] == 'set' then quota = tonumber(ARGV[4]) end
if ARGV[3] == 'add' then quota = quota + tonumber(ARGV[4]) end
if quota < 0 or quota > tonumber(ARGV[2]) then return 'quota_range' end
end_window(KEYS[1], first)
redis.call('HSET', KEYS[1], 'quota', string.format('%.0f', quota), unpack(ARGV, first))
return { user[2], user[6] or '', user[3], user[7] or '', redis.call('HGETALL', KEYS[1]) }
