/** Settings of how agents reach their LLM providers. */
import { integer, proxyUrl } from './values.ts';
import { optional, required } from './setting.ts';

export const llmSettings = {
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
};
