/** Settings of what agents may spend on model calls, and when these are a loop. */
import { patterns } from '@lodge/contract/patterns';
import { integer, matching, optional, required } from '@lodge/ports/settings';
import { oneOf } from './values.ts';

const amount = (name: string, description: string) =>
  optional(
    name,
    'US dollars',
    'no limit',
    description,
    matching(new RegExp(patterns.usd), 'a positive amount such as 12.50, with at most 6 decimals'),
  );

export const spendSettings = {
  agentDailyUsd: amount(
    'LODGE_AGENT_DAILY_USD',
    'Most that an agent without a `spend_limit` of its own may spend on model calls in a day (UTC).',
  ),
  agentMonthlyUsd: amount('LODGE_AGENT_MONTHLY_USD', 'The same in a month.'),
  accountDailyUsd: amount(
    'LODGE_ACCOUNT_DAILY_USD',
    'Most that all agents of an account may spend on model calls in a day (UTC), where no owner has set another limit.',
  ),
  accountMonthlyUsd: amount('LODGE_ACCOUNT_MONTHLY_USD', 'The same in a month.'),
  spendAction: required(
    'LODGE_SPEND_ACTION',
    '`block` or `pause`',
    'block',
    'The effect of these limits: model calls are refused, or the agent is put to sleep as well.',
    oneOf('block', 'pause'),
  ),
  unpricedModels: required(
    'LODGE_UNPRICED_MODELS',
    '`refuse` or `dearest`',
    'refuse',
    'Where a spend limit holds, what becomes of calls to models without a known price: they are refused, or cost as much as the dearest known model of their provider (of all, where none of its has a price).',
    oneOf('refuse', 'dearest'),
  ),
  turnCalls: required(
    'LODGE_TURN_CALLS',
    'number, 1..100000',
    '200',
    'Most model calls of a chat turn, and of an agent outside of turns in ten minutes: further ones are cut as a loop.',
    integer(1, 100_000),
  ),
  sameCalls: required(
    'LODGE_SAME_CALLS',
    'number, 1..100000',
    '10',
    'Answers to one and the same model request in that time; the next such request is cut as a loop.',
    integer(1, 100_000),
  ),
} as const;
