/** Everything of confirmations that runs: asking, making what is allowed, and closing what nobody decides. */
import type { CallEnd, Log, MakeCall, SecretBox } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import type { TurnPlace } from '../agents/agents.ts';
import type { TurnWaits } from '../turns/waits.ts';
import { createAsking } from './asking.ts';
import type { AskingDeps } from './asking.ts';
import { defaultConfirmationBounds } from './bounds.ts';
import type { ConfirmationBounds } from './bounds.ts';
import { createExpiring } from './expiring.ts';
import { createDecidingInTurn } from './in-turn.ts';
import { confirmationWork } from './making.ts';

/** Bounds that differ from the engine's own. */
export interface ConfirmationParts {
  readonly bounds?: Partial<ConfirmationBounds>;
}

interface Needs {
  readonly database: Database;
  readonly changes: AskingDeps['changes'];
  readonly secrets: SecretBox;
  readonly confirmations?: ConfirmationParts;
  readonly log: Log;
}

const nobody: CallEnd = { outcome: 'failed', text: 'Nothing here can make the call.' };

export type { Asking } from './asking.ts';
export type Confirming = ReturnType<typeof openConfirming>;

export function openConfirming(
  { database, changes, secrets, confirmations, log }: Needs,
  placeOf: (agentId: string) => TurnPlace | null,
  waits: TurnWaits,
) {
  const bounds = { ...defaultConfirmationBounds, ...confirmations?.bounds };
  let make: MakeCall = async () => nobody;
  const making = { database, secrets, bounds, make: ((...given) => make(...given)) satisfies MakeCall, log };
  return {
    asking: createAsking({ database, changes, secrets, placeOf, waits, bounds, log }),
    work: confirmationWork(making),
    decideInTurn: createDecidingInTurn(making),
    expiring: createExpiring(database, bounds.expireEveryMs, log),
    makeBy(given: MakeCall): void {
      make = given;
    },
  };
}
