import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { NftCrashError, nftCrashAdvice, run } from './commands.ts';
import { shareOf } from './connection-share.ts';
import { trustByHand } from './firewalld.ts';
import { foreignChains, isOfFirewalld, isOpenToGuests, nameOf } from './foreign-firewall.ts';
import { hostRules } from './host-rules.ts';
import { legacyChains } from './legacy-iptables.ts';
import { namespaceRules } from './namespace-rules.ts';
import { type NetworkOptions, type NetworkPlan, planNetwork } from './plan.ts';
import { rangeUse } from './routes.ts';

/** One requirement of the VMs' network on the host. */
export interface NetworkFact {
  readonly name: string;
  readonly ok: boolean;
  /** The finding. */
  readonly detail: string;
  /** Advice to the operator; null when nothing is to be done. */
  readonly advice: string | null;
}

type Finding = Omit<NetworkFact, 'name'>;
const fine = (detail: string): Finding => ({ ok: true, detail, advice: null });
const lack = (detail: string, advice: string): Finding => ({ ok: false, detail, advice });

async function tools(): Promise<Finding> {
  const missing: string[] = [];
  for (const tool of ['ip', 'nft', 'nsenter']) {
    await run(tool, ['--version']).catch(() => run(tool, ['-V']).catch(() => missing.push(tool)));
  }
  return missing.length === 0
    ? fine('ip, nft and nsenter are there')
    : lack(`missing: ${missing.join(', ')}`, 'install iproute2, nftables and util-linux');
}

async function tun(): Promise<Finding> {
  const device = '/dev/net/tun';
  return access(device, constants.R_OK | constants.W_OK).then(
    () => fine(`${device} can be opened`),
    () => lack(`${device} cannot be opened`, 'load the kernel module tun (modprobe tun) and run as root'),
  );
}

/** Asks the kernel itself, without changing anything: nft checks both firewalls as if it loaded them. */
async function firewall(plan: NetworkPlan): Promise<Finding> {
  const rules =
    hostRules(plan) +
    namespaceRules({
      plan,
      addresses: plan.slotAddresses(0),
      brokerPort: plan.brokerPort,
      share: shareOf(0, 1),
      tap: 'lo',
    });
  return run('nft', ['--check', '--file', '-'], rules).then(
    () => fine('the kernel takes the rules'),
    (error: Error) =>
      lack(
        `the kernel refuses the rules: ${error.message.split('\n')[0]}`,
        'use a kernel with nf_tables (inet, netdev, fib, connlimit)',
      ),
  );
}

async function rangeFree(plan: NetworkPlan): Promise<Finding> {
  const { conflict } = await rangeUse(plan);
  return conflict === null
    ? fine(`${plan.range} is used by nobody else`)
    : lack(`${plan.range} overlaps the route ${conflict}`, 'choose another private range for the VMs');
}

async function ipForwarding(): Promise<Finding> {
  const on = (await readFile('/proc/sys/net/ipv4/ip_forward', 'utf8')).trim() === '1';
  return fine(on ? 'on' : 'off; it is switched on when the control plane starts');
}

async function otherFirewalls(plan: NetworkPlan): Promise<Finding> {
  const legacy = await olderIptables(plan);
  if (legacy !== null) return legacy;
  const chains = await foreignChains(plan).catch((error: unknown) => {
    if (error instanceof NftCrashError) return null;
    throw error;
  });
  if (chains === null) return lack('nft crashes where it lists tables that a newer nft has made', nftCrashAdvice);
  const closed = chains.filter((chain) => chain.closed);
  const shut = closed.filter((chain) => !isOpenToGuests(chain));
  const names = (chains: typeof closed): string => chains.map(nameOf).join(', ');
  if (shut.length > 0) {
    return lack(
      `${names(shut)} drop what guests send`,
      shut.some(isOfFirewalld)
        ? `start Lodge, which opens them; where they stay shut, run: ${trustByHand(plan)}`
        : `start Lodge, which adds an accept for the guests; where they stay shut, let interfaces ${plan.linkPrefix}* pass there`,
    );
  }
  return fine(closed.length === 0 ? 'no other firewall drops by default' : `${names(closed)} let guests pass`);
}

/** Null if the older iptables drops nothing of the guests' traffic. */
async function olderIptables(plan: NetworkPlan): Promise<Finding | null> {
  const chains = await legacyChains(plan).catch((error: Error) => error);
  if (chains instanceof Error) {
    return lack(
      `rules of the older iptables are loaded, which may drop what guests send, and cannot be listed: ${chains.message}`,
      'install iptables, whose iptables-legacy lists and changes them',
    );
  }
  const shut = chains.filter(({ missing }) => missing.length > 0);
  const commands = shut.flatMap(({ name, missing }) => missing.map((rule) => `iptables-legacy -I ${name} ${rule}`));
  if (shut.length === 0) return null;
  return lack(
    `${shut.map(({ name }) => name).join(', ')} of the older iptables drop what guests send`,
    `start Lodge, which opens them; where they stay shut, run: ${commands.join('; ')}`,
  );
}

/** Checks this host for the requirements of the VMs' network without changing anything. */
export async function checkNetwork(options: NetworkOptions): Promise<NetworkFact[]> {
  const plan = planNetwork(options);
  const root = process.getuid?.() === 0;
  const checks: [string, () => Promise<Finding>][] = [
    ['network tools', tools],
    ['tap device', tun],
    ['firewall', () => firewall(plan)],
    ['address range', () => rangeFree(plan)],
    ['forwarding', ipForwarding],
    ['other firewalls', () => otherFirewalls(plan)],
  ];
  const facts: NetworkFact[] = [
    { name: 'root', ...(root ? fine('yes') : lack('no', 'run as root: namespaces and the firewall need it')) },
  ];
  for (const [name, check] of checks) {
    const finding = await check().catch((error: Error) => lack(error.message, 'see the other findings'));
    facts.push({ name, ...finding });
  }
  return facts;
}
