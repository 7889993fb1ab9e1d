import type { AccountRow, By } from '@lodge/ports';
import type { AccountDeps } from './deps.ts';

export async function account({ store }: AccountDeps, id: string): Promise<AccountRow> {
  const found = await store.byId(id);
  if (!found) throw new Error('an account is never deleted, and this one is not there');
  return found.account;
}

export function update(
  { store }: AccountDeps,
  id: string,
  { recordsLlmCalls }: { readonly recordsLlmCalls: boolean },
  by: By,
): Promise<AccountRow> {
  return store.transaction(async (tx) => {
    const before = await tx.lock(id);
    if (before?.account.recordsLlmCalls === recordsLlmCalls) return before.account;
    const changed = await tx.setRecordsLlmCalls(id, recordsLlmCalls);
    const target = { kind: 'account', id };
    const data = { record_llm_calls: recordsLlmCalls };
    await tx.record({ accountId: id, type: 'account.updated', data, agentId: null, by, target });
    return changed;
  });
}
