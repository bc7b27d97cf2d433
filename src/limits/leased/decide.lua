-- Decides atomically about one account. A holder (one run of a node) reports what it uses of each
-- counter, what a request takes, and what it would like beyond that; the reply says what it may use.
-- All numbers are absolute, and a call that arrives twice or late changes nothing, so a call is
-- idempotent. script.ts describes the call and the reply.
--
-- KEYS[1] the account: epoch, the starts of its windows, and a record and the last reply of each holder
-- KEYS[2] … its days and months: mark, before, total, and the usage of each holder
-- ARGV[1] the call

local WINDOW_MS = 60000
-- A holder without calls for this long loses its slots.
local LEASE_MS = 30000
-- Unused permits are reported or expire within this time.
local LAPSE_MS = 1000
-- Admissions are in the ledger after this time.
local BOOKED_MS = 500
local ACCOUNT_KEPT_MS = 3600000
local PERIOD_KEPT_MS = 40 * 86400000

local call = cjson.decode(ARGV[1])
local now = call.now
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- State written by another server, or before a restart of this one, may be older than what holders
-- have received since.
local server = redis.pcall('INFO', 'server')
local run = type(server) == 'string' and server:match('run_id:(%x+)') or ''

local replyField = call.holder .. '/reply'
local epoch, starts, holders, answered = nil, {}, {}, nil
local fields = redis.call('HGETALL', KEYS[1])
for index = 1, #fields, 2 do
  local name, value = fields[index], fields[index + 1]
  if name == 'epoch' then
    epoch = value
  elseif name == 'starts' then
    starts = cjson.decode(value)
  elseif name == replyField then
    answered = value
  elseif not name:find('/', 1, true) then
    holders[name] = cjson.decode(value)
  end
end
if epoch and epoch:match('^[^/]*') ~= run then
  epoch = nil
end

local own = epoch and holders[call.holder] or { seq = 0 }
if own.seq >= call.seq then
  return own.seq == call.seq and answered or cjson.encode({ seq = call.seq, late = true })
end

-- State that Redis does not have yet must come from the ledger first.
local periods, marks, owns = {}, {}, {}
local isMissing = not epoch and not call.seed
local keys = 1
for index, asked in ipairs(call.counters) do
  marks[index], owns[index] = -1, 0
  if asked.kind == 'period' then
    keys = keys + 1
    local values = redis.call('HMGET', KEYS[keys], 'mark', 'before', 'total', call.holder)
    local mark, before = tonumber(values[1] or nil) or asked.mark, tonumber(values[2] or nil)
    if not before and asked.before >= 0 and asked.mark == mark then
      before = asked.before
    end
    local total, used = tonumber(values[3] or nil) or 0, tonumber(values[4] or nil) or 0
    periods[index] = { key = KEYS[keys], mark = mark, before = before, others = total - used }
    marks[index], owns[index] = mark, used
    -- Usage is reported from a mark on, and is meaningless for another mark.
    isMissing = isMissing or mark < 0 or asked.from ~= mark or (asked.counts and not before)
  end
end
if isMissing then
  local missing = epoch and 'periods' or 'account'
  return cjson.encode({ seq = call.seq, missing = missing, marks = marks, owns = owns })
end

if not epoch then
  redis.call('DEL', KEYS[1])
  epoch = run .. '/' .. now .. '/' .. call.holder .. '/' .. call.seq
  starts, holders = {}, {}
  local books = { seq = 0, ends = 0, held = {} }
  for _, window in ipairs(call.seed or {}) do
    local start = now - window.age
    starts[window.name] = start
    books.held[window.name] = { start, window.count, window.tokens, 0, 0, 0 }
  end
  holders.books = books
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'books', cjson.encode(books))
end

-- When the ledger was last read.
local begun = tonumber(epoch:match('^[^/]*/([^/]*)'))

for name, start in pairs(starts) do
  if now - start >= WINDOW_MS then
    starts[name] = nil
  end
end

-- Whether the reported use was of an expired window, or the ledger has it.
local function isOver(asked, from)
  if asked.kind ~= 'window' then
    return false
  elseif asked.from > 0 then
    return asked.from ~= from or call.epoch ~= epoch
  end
  return call.epoch ~= epoch and now - asked.latest <= begun - BOOKED_MS
end

-- A holder with a recent call may have unused permits that it has not reported yet.
local function isRecent(record)
  return record.ends - LEASE_MS > now - LAPSE_MS
end

local function add(sum, count, tokens)
  sum[1], sum[2] = sum[1] + count, sum[2] + tokens
end

local fits = true
local counters = {}
for index, asked in ipairs(call.counters) do
  local period = periods[index]
  local from = period and period.mark or starts[asked.name] or 0
  local others = { 0, period and period.others or 0 }
  local spare, reserved = { 0, 0 }, 0
  for holder, record in pairs(holders) do
    local held = record.held[asked.name]
    if held and holder ~= call.holder then
      local isAlive = record.ends > now
      if asked.kind == 'window' and held[1] == from or asked.kind == 'slots' and isAlive then
        add(others, held[2], held[3])
      end
      if isRecent(record) then
        add(spare, held[4], held[5])
      end
      -- Reservations of an expired holder count as used.
      reserved = reserved + (isAlive and held[6] or 0)
    end
  end
  local over = isOver(asked, from)
  local used = over and { 0, 0 } or asked.used
  -- An empty window has not started.
  if asked.kind == 'window' and others[1] + used[1] == 0 then
    from = 0
  end
  local left = {}
  for at = 1, 2 do
    local taken = others[at] + used[at] + asked.take[at]
    left[at] = asked.limit[at] < 0 and math.huge or asked.limit[at] - taken
  end
  if period then
    left[2] = left[2] - (period.before or 0)
  end
  if asked.take[1] > 0 and (left[1] < 0 or left[2] < 0) then
    fits = false
  end
  counters[index] = { from = from, others = others, used = used, left = left, isOver = over }
  counters[index].spare, counters[index].reserved = spare, reserved
end

-- Beyond its need, a holder gets at most its share of half of the remainder.
local function extra(wish, left)
  return math.max(0, math.min(wish, math.floor(left / (2 * call.holders))))
end

local isScarce = call.returns or false
for index, asked in ipairs(call.counters) do
  local counter = counters[index]
  local more, given = { 0, 0 }, { counter.used[1], counter.used[2] }
  if fits then
    if asked.kind ~= 'window' or counter.from > 0 or asked.take[1] > 0 then
      more = { extra(asked.wish[1], counter.left[1]), extra(asked.wish[2], counter.left[2]) }
    end
    add(given, asked.take[1] + more[1], asked.take[2] + more[2])
  end
  counter.more, counter.given = more, given
  -- When few slots are left, a holder has to report each one that becomes free.
  local limit = asked.limit[1]
  if asked.kind == 'slots' and limit >= 0 then
    local free = limit - counter.others[1] - given[1]
    isScarce = isScarce or free < math.min(call.holders, limit / 2)
  end
end

local reply = { seq = call.seq, epoch = epoch, fits = fits, isScarce = isScarce, counters = {} }
own = { seq = call.seq, ends = now + LEASE_MS, held = {} }
for index, asked in ipairs(call.counters) do
  local counter, period = counters[index], periods[index]
  local from, given, more = counter.from, counter.given, counter.more
  local reserved = 0
  if asked.kind == 'window' then
    if counter.others[1] + given[1] == 0 then
      from = 0
    elseif from == 0 then
      from = now - (counter.used[1] > 0 and math.min(asked.age, WINDOW_MS - 1) or 0)
    end
    starts[asked.name] = from > 0 and from or nil
  elseif asked.kind == 'slots' then
    more = { isScarce and 0 or given[1], 0 }
  else
    reserved = asked.reserved + given[2] - counter.used[2]
    local total = counter.others[2] + given[2]
    redis.call('HSET', period.key, 'mark', period.mark, 'total', total, call.holder, given[2])
    if period.before then
      redis.call('HSET', period.key, 'before', period.before)
    end
    redis.call('PEXPIRE', period.key, PERIOD_KEPT_MS)
  end
  if period or given[1] > 0 then
    own.held[asked.name] = { from, given[1], given[2], more[1], more[2], reserved }
  end
  reply.counters[index] = {
    from = from,
    leftMs = asked.kind == 'window' and from > 0 and from + WINDOW_MS - now or 0,
    before = period and period.before or -1,
    others = counter.others,
    spare = counter.spare,
    othersReserved = counter.reserved,
    isOver = counter.isOver,
    given = given,
  }
end

holders[call.holder] = own
local text = cjson.encode(reply)
redis.call('HSET', KEYS[1], 'starts', cjson.encode(starts), call.holder, cjson.encode(own), replyField, text)
for holder, record in pairs(holders) do
  local isUsed = record.ends > now
  for name, held in pairs(record.held) do
    isUsed = isUsed or held[1] == starts[name]
  end
  if not isUsed then
    redis.call('HDEL', KEYS[1], holder, holder .. '/reply')
  end
end
redis.call('PEXPIRE', KEYS[1], ACCOUNT_KEPT_MS)
return text
