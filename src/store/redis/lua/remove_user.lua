#!lua
-- Deletes an account with its tokens and sessions, in one step.
-- KEYS     user, its list of tokens, its sessions, everything else that it has, then all of its tokens
-- ARGV     where the tokens begin among the keys
-- Returns  {name, address, {token id, hash of its key, ...}, {session id, ...}}; nil if it does not exist; or
--          {'more keys', token ids...}
--!include _budget
--!include _give_back
local user = redis.call('HMGET', KEYS[1], 'username', 'email')
if not user[1] then return false end
local given = tokens_from(tonumber(ARGV[1]))
local ids = redis.call('ZRANGE', KEYS[2], 0, -1)
local missing = {}
for _, id in ipairs(ids) do
  if not given[id] then missing[#missing + 1] = id end
end
if #missing > 0 then return more_keys(missing) end
local tokens = {}
for _, id in ipairs(ids) do
  tokens[#tokens + 1] = id
  tokens[#tokens + 1] = redis.call('HGET', given[id], 'hash') or ''
  redis.call('DEL', given[id])
end
local sessions = redis.call('HKEYS', KEYS[3])
redis.call('DEL', unpack(KEYS, 1, tonumber(ARGV[1]) - 1))
return { user[1], user[2], tokens, sessions }
