import { run } from './commands.ts';
import type { NetworkPlan } from './plan.ts';

/**
 * firewalld from 2.2 on owns its table: nobody else changes it (nft(8), flag `owner`; firewalld.conf(5), NftablesTableOwner). So it is asked to count the guests'
 * links to its zone `trusted`, which accepts everything. For as long as it runs: its files stay as they are, and after its reload it is asked again.
 */
const zone = '--zone=trusted';
const seconds = '30';
const ask = (...args: string[]): Promise<string> => run('timeout', [seconds, 'firewall-cmd', '--quiet', ...args]);
const links = (plan: NetworkPlan): string => `${plan.linkPrefix}+`;

/** Succeeds too where they are trusted already; rejects where the operator has put them into another zone. */
export async function trustLinks(plan: NetworkPlan): Promise<void> {
  await ask(zone, `--add-interface=${links(plan)}`);
}

/** What the operator has written into firewalld's own files stays. */
export async function distrustLinks(plan: NetworkPlan): Promise<void> {
  const isOperators = await ask('--permanent', zone, `--query-interface=${links(plan)}`).then(
    () => true,
    () => false,
  );
  if (!isOperators) await ask(zone, `--remove-interface=${links(plan)}`);
}

/** What an operator does by hand, for good. */
export const trustByHand = (plan: NetworkPlan): string =>
  `firewall-cmd --permanent ${zone} --add-interface=${links(plan)} && firewall-cmd --reload`;
