import { Refusal } from '../refusal.ts';
import { abilitiesOf } from '../runtime-kinds.ts';
import type { RuntimeKind } from '../runtime-kinds.ts';
import { sizeNames } from '../agents/capacity.ts';
import type { SizeName } from '../agents/capacity.ts';

/** States of an agent's browser: those that the daemon of a guest says, and `asleep` while its machine does not run. */
export const agentBrowserStatuses = ['off', 'unavailable', 'idle', 'starting', 'running', 'failed', 'asleep'] as const;

/** How long somebody may hold mouse and keyboard of a browser, in seconds. The guest ends it by its own clock. */
export const browserControl = { least: 30, most: 3_600, usual: 300 } as const;

/** Refuses a browser in a machine in which the runtime leaves no room for one. */
export function checkBrowserSize(kind: RuntimeKind, size: SizeName, browser: boolean): void {
  const { browserFrom } = abilitiesOf(kind);
  if (!browser || sizeNames.indexOf(size) >= sizeNames.indexOf(browserFrom)) return;
  throw new Refusal('invalid_request', `browser can be true for ${kind} from the size ${browserFrom} on.`);
}
