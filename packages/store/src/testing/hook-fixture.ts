import { randomBytes, randomInt } from 'node:crypto';
import { makeAgentId } from '@lodge/domain';
import { insertHook, insertHookMessage } from '../hooks/index.ts';
import type { HookPlace, HookRow, NewHookMessage } from '../hooks/index.ts';
import type { Store } from '../store.ts';

export const hookId = (): string => makeAgentId(randomInt);

type NewHook = Parameters<typeof insertHook>[1];

/** A hook as its owner's use-case writes it, without an event. */
export const makeHook = (
  { database }: Pick<Store, 'database'>,
  of: Pick<HookPlace, 'accountId' | 'agentId'>,
  given: Partial<NewHook> = {},
): Promise<HookRow> =>
  database.transaction((trx) =>
    insertHook(trx, { id: hookId(), ...of, name: 'H', tokenHash: randomBytes(32), last4: 'abcd', ...given }),
  );

const message = { deliveryId: null, event: null, text: '{"a":1}', isCut: false };

/** A message that waits for the hook's agent, without an event. */
export const sendTo = (
  { database }: Pick<Store, 'database'>,
  { id, agentId, accountId }: Pick<HookRow, 'id' | 'agentId' | 'accountId'>,
  given: Partial<NewHookMessage> = {},
): Promise<string> =>
  database.transaction((trx) => insertHookMessage(trx, { hookId: id, agentId, accountId, ...message, ...given }));
