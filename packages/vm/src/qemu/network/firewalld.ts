import { run } from './commands.ts';
import type { NetworkPlan } from './plan.ts';

/**
 * firewalld from 2.2 on owns its table: nobody else changes it (nft(8), flag `owner`; firewalld.conf(5),
 * NftablesTableOwner). So Lodge asks it to put the guests' links into its zone `trusted`, which accepts everything. That
 * lasts as long as firewalld runs: its files stay as they are, and after its reload Lodge asks again.
 */
const zone = '--zone=trusted';
const seconds = '30';
const ask = (...args: string[]): Promise<string> => run('timeout', [seconds, 'firewall-cmd', '--quiet', ...args]);
const links = (plan: NetworkPlan): string => `${plan.linkPrefix}+`;

/** Succeeds too if they are trusted already; rejects if the operator has put them into another zone. */
export async function trustLinks(plan: NetworkPlan): Promise<void> {
  await ask(zone, `--add-interface=${links(plan)}`);
}

/** Takes the links out again. Entries that the operator wrote into firewalld's own files stay. */
export async function distrustLinks(plan: NetworkPlan): Promise<void> {
  const isOperators = await ask('--permanent', zone, `--query-interface=${links(plan)}`).then(
    () => true,
    () => false,
  );
  if (!isOperators) await ask(zone, `--remove-interface=${links(plan)}`);
}

/** The command by which an operator trusts the links permanently. */
export const trustByHand = (plan: NetworkPlan): string =>
  `firewall-cmd --permanent ${zone} --add-interface=${links(plan)} && firewall-cmd --reload`;
