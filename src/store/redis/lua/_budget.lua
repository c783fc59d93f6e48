-- A token or an account with a budget has `budget`, `period` and `zone`, and for the window that began last `until`, its end,
-- and `spent`, which includes reservations. The caller says where windows begin and end: time zones are not known here.

-- The budget of a record, or false if it has none.
local function budget_of(key, limit)
  limit = tonumber(limit or 0)
  if limit <= 0 then return false end
  local window = redis.call('HMGET', key, 'spent', 'until')
  return { limit = limit, spent = tonumber(window[1] or 0), ends = tonumber(window[2] or 0) }
end

-- Its period and zone, or the defaults if a record of an older release lacks them.
local function terms_of(key)
  local terms = redis.call('HMGET', key, 'period', 'zone')
  return terms[1] or 'month', terms[2] or 'UTC'
end

-- Whether a budget has something left, and at least this much.
local function fits_budget(budget, amount)
  return budget.spent < budget.limit and budget.spent + amount <= budget.limit
end

-- Changes what is spent in the current window, if one has begun.
local function spend(key, units)
  if tonumber(redis.call('HGET', key, 'until') or 0) > 0 then redis.call('HINCRBY', key, 'spent', units) end
end

-- Ends the window of a record if the arguments from `first` on, fields and values, give it another kind of window or no budget.
local function end_window(key, first)
  local period, zone = terms_of(key)
  for i = first, #ARGV, 2 do
    local field, value = ARGV[i], ARGV[i + 1]
    if (field == 'budget' and value == '0') or (field == 'period' and value ~= period)
      or (field == 'zone' and value ~= zone) then
      redis.call('HSET', key, 'until', 0, 'spent', 0)
    end
  end
end
