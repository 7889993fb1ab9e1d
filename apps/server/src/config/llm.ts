/** Settings of how agents reach their LLM providers. */
import { integer, optional, required } from '@lodge/ports/settings';
import { oneOf, proxyUrl } from './values.ts';

export const llmSettings = {
  tryOut: required(
    'LODGE_TRYOUT',
    '`on` or `off`',
    'on',
    'Whether agents can be made without any provider: `tryout/echo` stands in for a model, repeats what it is told, and runs commands after `run:`. It costs nothing and calls nobody.',
    oneOf('on', 'off'),
  ),
  egressProxy: {
    ...optional(
      'LODGE_EGRESS_PROXY',
      'URL',
      'providers are reached straight',
      'HTTP proxy that public LLM providers are reached through, by CONNECT, such as `http://user:password@proxy.example.com:3128`; TLS is with the provider all the same, and providers at private addresses are reached straight.',
      proxyUrl,
    ),
    secret: true as const,
  },
  llmCallsAtOnce: required(
    'LODGE_LLM_CALLS_AT_ONCE',
    'number, 1..1000',
    '8',
    'Model calls that one agent may have under way.',
    integer(1, 1000),
  ),
  llmCallsPerMinute: required(
    'LODGE_LLM_CALLS_PER_MINUTE',
    'number, 1..100000',
    '240',
    'Model calls that one agent may begin over time; a quarter of it at once.',
    integer(1, 100_000),
  ),
  llmContentDays: required(
    'LODGE_LLM_CONTENT_DAYS',
    'days, 1..365',
    '7',
    'How long it is kept what was said in model calls of accounts that record them, which none does by default.',
    integer(1, 365),
  ),
  llmContentMaxMib: required(
    'LODGE_LLM_CONTENT_MAX_MIB',
    'MiB, 1..1048576',
    '512',
    'Most that is kept of what was said in model calls of one account; the oldest of the agent with most go first.',
    integer(1, 1_048_576),
  ),
  llmCallMax: required(
    'LODGE_LLM_CALL_MAX',
    'number, 1000..100000000',
    '100000',
    'Most model calls of one agent that are kept as single rows; the oldest go first, and stay in usage by the quarter hour.',
    integer(1000, 100_000_000),
  ),
  llmCallDays: required(
    'LODGE_LLM_CALL_DAYS',
    'days, 1..3650',
    '400',
    'How long model calls are kept as single rows; after that they stay in usage by the quarter hour.',
    integer(1, 3650),
  ),
};
