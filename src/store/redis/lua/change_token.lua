#!lua
-- Changes a token; its balance changes from its present value, whatever else is running.
-- KEYS     user, its reservations, the token, and other tokens whose reservations may be given back
-- ARGV     time, largest balance, the version after the change, version that the new policy was made from or '',
--          'set' or 'add' or '', quota to set or add, then fields and values to write
-- Returns  the token's fields and values after the change; nil if it does not exist; 'retry' if the version has changed; 'quota_range',
--          'expired', 'exhausted'; or {'more keys', token ids...}
--!include _clock
--!include _budget
--!include _give_back
local key = KEYS[3]
local now = clock(ARGV[1])
local _, missing = give_back(KEYS[1], KEYS[2], tokens_from(3), now)
if missing then return more_keys(missing) end
local token = redis.call('HMGET', key, 'remain', 'expires', 'unlimited', 'version')
if not token[1] then return false end
if ARGV[4] ~= '' and token[4] ~= ARGV[4] then return 'retry' end

local remain = tonumber(token[1])
if ARGV[5] == 'set' then remain = tonumber(ARGV[6]) end
if ARGV[5] == 'add' then remain = remain + tonumber(ARGV[6]) end
if remain < 0 or remain > tonumber(ARGV[2]) then return 'quota_range' end

local wanted = { expires = token[2], unlimited = token[3] }
for i = 7, #ARGV, 2 do
  wanted[ARGV[i]] = ARGV[i + 1]
end
if wanted.enabled == '1' then
  local expires = tonumber(wanted.expires)
  if expires ~= -1 and expires * 1000 <= now then return 'expired' end
  if wanted.unlimited ~= '1' and remain <= 0 then return 'exhausted' end
end

end_window(key, 7)
redis.call('HSET', key, 'remain', string.format('%.0f', remain), 'version', ARGV[3], unpack(ARGV, 7))
return redis.call('HGETALL', key)
