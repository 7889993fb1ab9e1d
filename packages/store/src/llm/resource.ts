import { callContentContext } from '@lodge/ports';
import type { StoredResource } from '../database/stored-resource.ts';

export const llmTables = {
  topics: [],
  sealed: [{ table: 'llm_call_contents', column: 'sealed', key: ['call_id'], context: callContentContext }],
  columns: {
    'llm_calls.api': 'ports.LlmApi',
    'llm_calls.outcome': "ports.LlmCall['outcome']",
    'llm_calls_open.api': 'ports.LlmApi',
    'spend_windows.period': 'domain.SpendPeriod',
    'spend_windows.scope': "'agent' | 'account'",
    'stored_bytes.kind': "'replies' | 'contents'",
  },
} as const satisfies StoredResource;
