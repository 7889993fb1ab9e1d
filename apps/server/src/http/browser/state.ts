/** The browser of an agent as its machine says it. */
import type { Browser } from '@lodge/contract';
import { Refusal } from '@lodge/domain';
import { GuestError, isUnknownRoute } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import type { BrowserShown } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { guestRefusal, guestWords } from '../guest/guest-error.ts';
import type { GuestAccess } from '../needs.ts';
import { listTabs } from './cdp/http.ts';
import type { Tab } from './cdp/http.ts';

/** Asks the machine while it runs, and wakes nobody. */
export async function browserRecord(
  { agents, guestAt }: Pick<GuestAccess, 'agents' | 'guestAt'>,
  row: AgentRow,
  signal: AbortSignal,
): Promise<Browser> {
  if (!row.browser) return recordOf(false, { status: 'off' });
  const address = agents.guestOf(row);
  if (address === null) return recordOf(true, { status: 'asleep' });
  const guest = guestAt(address);
  try {
    const { status, message, heldForSeconds } = await guest.browser.state({ signal });
    const ofHost = status === 'unavailable' ? await sentenceOfHost(agents, row) : null;
    const isThere = status === 'running' || status === 'starting';
    return {
      ...recordOf(true, { status, message: ofHost ?? (message === null ? null : guestWords(message)) }),
      tabs: status === 'running' ? [...(await tabsOf(guest, signal))] : [],
      controlled_by: isThere ? (heldForSeconds === null ? 'agent' : 'owner') : null,
      control_ends_at: heldForSeconds === null ? null : endOf(heldForSeconds),
    };
  } catch (error) {
    if (!isUnknownRoute(error)) throw guestRefusal(error);
    return recordOf(true, { status: 'unavailable', message: 'The agent runs on an older image. Upgrade it first.' });
  }
}

/** Why the guest finds no browser, by what the host knows; null when that is not the reason. */
async function sentenceOfHost(agents: GuestAccess['agents'], row: AgentRow): Promise<string | null> {
  const disk = await agents.browserDisk(row);
  return disk === null ? null : hostSentences[disk.state];
}

/** The reason of a failed build is for the operator alone. */
const hostSentences: Readonly<Record<BrowserShown['state'], string | null>> = {
  shown: null,
  building: 'The browser is being prepared on this host. It takes some minutes, once for all agents.',
  failed: 'The browser could not be prepared on this host. It is tried again; the log of Lodge says why it failed.',
  no_device: 'The machine of the agent is from before browsers. Upgrade the agent first.',
};

const recordOf = (
  enabled: boolean,
  { status, message = null }: Partial<Browser> & Pick<Browser, 'status'>,
): Browser => ({
  object: 'browser',
  enabled,
  status,
  message,
  tabs: [],
  controlled_by: null,
  control_ends_at: null,
});

const endOf = (seconds: number): string => new Date(Date.now() + 1000 * seconds).toISOString();

/** None where the browser does not list them: it may be ending, or a page has made the list too long. */
const tabsOf = (guest: GuestClient, signal: AbortSignal): Promise<readonly Tab[]> =>
  listTabs((within) => guest.browser.openCdp({ start: false }, { signal: within }), signal).catch(() => []);

/** The contract's words for a failed call about the browser. */
export function browserRefusal(error: unknown): unknown {
  if (!(error instanceof GuestError) || error.status !== 409) return guestRefusal(error);
  const reason = error.reason === null ? '' : `: ${guestWords(error.reason)}`;
  return new Refusal('browser_not_running', `The browser does not run${reason}.`);
}

export function checkHasBrowser(row: Pick<AgentRow, 'browser'>): void {
  if (!row.browser)
    throw new Refusal('browser_not_running', 'The agent has no browser. Set its field browser to true.');
}
