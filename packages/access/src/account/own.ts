import type { AccountRow, Caller, SignedIn } from '@lodge/engine/ports';
import { eventOf } from './deps.ts';
import type { AccountDeps } from './deps.ts';

/** Whether what is said in model calls is kept is said by whose agents make them, and by nobody else. */
export function update(
  deps: AccountDeps,
  me: SignedIn,
  { recordsLlmCalls }: { readonly recordsLlmCalls: boolean },
  caller: Caller,
): Promise<AccountRow> {
  const { id } = me.account;
  return deps.store.transaction(async (tx) => {
    const account = await tx.setRecordsLlmCalls(id, recordsLlmCalls);
    const target = { kind: 'account', id };
    const details = { record_llm_calls: recordsLlmCalls };
    await tx.audit(eventOf(id, caller, { action: 'account.updated', target, details }));
    return account;
  });
}
