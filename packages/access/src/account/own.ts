import type { AccountRow, ChangedBy } from '@lodge/engine/ports';
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
  by: ChangedBy,
): Promise<AccountRow> {
  return store.transaction(async (tx) => {
    const changed = await tx.setRecordsLlmCalls(id, recordsLlmCalls);
    const target = { kind: 'account', id };
    const details = { record_llm_calls: recordsLlmCalls };
    await tx.audit({ ...by, accountId: id, action: 'account.updated', target, details });
    return changed;
  });
}
