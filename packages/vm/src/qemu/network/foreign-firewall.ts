import { run } from './commands.ts';
import type { NetworkPlan } from './plan.ts';

/**
 * Other firewalls on the host (Docker, ufw, firewalld, an nftables.conf). A packet passes only if every table lets it pass,
 * so one that drops by default needs an accept for the guests' links beside its own rules. The instance's own table alone
 * decides what guests may do, before and after. The added rules carry the instance's comment and nothing but an interface
 * and a verdict, so that `iptables` still understands its tables.
 */
const hooks = ['input', 'forward', 'output'] as const;
type Hook = (typeof hooks)[number];
type Direction = 'iifname' | 'oifname';
const directions: Record<Hook, readonly Direction[]> = {
  input: ['iifname'],
  forward: ['iifname', 'oifname'],
  output: ['oifname'],
};

interface ChainRef {
  readonly family: string;
  readonly table: string;
  readonly name: string;
}

export const isOfFirewalld = ({ family, table }: Pick<ChainRef, 'family' | 'table'>): boolean =>
  family === 'inet' && table === 'firewalld';

export interface ForeignChain extends ChainRef {
  readonly hook: Hook;
  /** Whether packets that no rule of the chain names are dropped or rejected. */
  readonly closed: boolean;
  /** Handles of this instance's rules in the chain. */
  readonly ours: readonly number[];
  /** Whether firewalld, which owns the chain, has the guests' links in a zone whose traffic it accepts. */
  readonly trusted: boolean;
}

/** The output of `nft -j`, see libnftables-json(5). */
interface NftObject {
  readonly chain?: ChainRef & { readonly type?: string; readonly hook?: string; readonly policy?: string };
  readonly rule?: {
    readonly family: string;
    readonly table: string;
    readonly chain: string;
    readonly handle: number;
    readonly comment?: string;
    readonly expr: readonly Record<string, unknown>[];
  };
}

const tablesOfLodge = /^lodge_/;
const comment = (plan: NetworkPlan): string => `lodge ${plan.instance}`;

async function listRuleset(): Promise<NftObject[]> {
  return (JSON.parse(await run('nft', ['-j', 'list', 'ruleset'])) as { nftables: NftObject[] }).nftables;
}

/** Whether the rule has no condition and ends the packet. */
function dropsAll(expr: readonly Record<string, unknown>[]): boolean {
  if (expr.some((part) => 'match' in part || (part['xt'] as { type?: string } | null)?.type === 'match')) return false;
  return expr.some((part) => {
    const target = part['xt'] as { type?: string; name?: string } | null | undefined;
    return 'drop' in part || 'reject' in part || target?.name === 'REJECT';
  });
}

/**
 * Whether the rule is one of firewalld's that sends traffic of the guests' links to its zone `trusted`, which accepts
 * everything.
 */
function leadsToTrusted(expr: readonly Record<string, unknown>[], links: string): boolean {
  const isFromGuests = expr.some((part) => (part['match'] as { right?: unknown } | undefined)?.right === links);
  const targets = expr.flatMap((part) => [part['jump'], part['goto']]) as ({ target?: string } | undefined)[];
  return isFromGuests && targets.some((to) => to?.target === 'filter_IN_trusted');
}

/** Base chains of other programs that see packets to, from or through this host. */
export async function foreignChains(plan: NetworkPlan): Promise<ForeignChain[]> {
  const objects = await listRuleset();
  const rules = objects.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
  const trusted = rules.some((rule) => isOfFirewalld(rule) && leadsToTrusted(rule.expr, `${plan.linkPrefix}*`));
  return objects.flatMap(({ chain }) => {
    const hook = hooks.find((name) => name === chain?.hook);
    if (chain === undefined || hook === undefined || chain.type !== 'filter') return [];
    if (!['ip', 'inet'].includes(chain.family) || tablesOfLodge.test(chain.table)) return [];
    const own = rules.filter(
      (rule) => rule.family === chain.family && rule.table === chain.table && rule.chain === chain.name,
    );
    const { family, table, name } = chain;
    const last = own.at(-1);
    return {
      family,
      table,
      name,
      hook,
      closed: chain.policy === 'drop' || (last !== undefined && dropsAll(last.expr)),
      ours: own.filter((rule) => rule.comment === comment(plan)).map((rule) => rule.handle),
      trusted: trusted && isOfFirewalld(chain),
    };
  });
}

export const isOpenToGuests = (chain: ForeignChain): boolean =>
  !chain.closed || chain.trusted || chain.ours.length === directions[chain.hook].length;

/** The chain's name for messages. */
export const nameOf = ({ family, table, name }: ForeignChain): string => `${family} ${table} ${name}`;

async function apply(commands: readonly unknown[]): Promise<void> {
  // The JSON is an argument: nft reads it from standard input only if that can be opened by name, which a socket cannot.
  if (commands.length > 0) await run('nft', ['-j', JSON.stringify({ nftables: commands })]);
}

const removals = (chain: ForeignChain): unknown[] =>
  chain.ours.map((handle) => ({
    delete: { rule: { family: chain.family, table: chain.table, chain: chain.name, handle } },
  }));

/** Puts the instance's rules at the head of these chains, all or none. Rejects if only the owner may change their table. */
export async function openChains(plan: NetworkPlan, shut: readonly ForeignChain[]): Promise<void> {
  await apply(
    shut.flatMap((chain) => [
      ...removals(chain),
      ...directions[chain.hook].map((key) => ({
        insert: {
          rule: {
            family: chain.family,
            table: chain.table,
            chain: chain.name,
            comment: comment(plan),
            expr: [{ match: { op: '==', left: { meta: { key } }, right: `${plan.linkPrefix}*` } }, { accept: null }],
          },
        },
      })),
    ]),
  );
}

/** Takes the instance's rules out of other tables again. */
export async function closeForeignChains(plan: NetworkPlan): Promise<void> {
  await apply((await foreignChains(plan)).flatMap(removals));
}

/** Whether another program also influences forwarding on this host, and so may rely on it. */
export async function othersForward(plan: NetworkPlan): Promise<boolean> {
  const objects = await listRuleset();
  return objects.some(
    ({ chain }) => (chain?.hook === 'forward' || chain?.hook === 'postrouting') && chain.table !== plan.table,
  );
}
