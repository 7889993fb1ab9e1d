/** The channels of OpenClaw's configuration. Their secrets stay where they are. */
import type { LeftOut } from './folder.ts';
import { entriesOf, mapOf, modeOf, textOf } from './found.ts';
import type { Access, FoundChannel } from './found.ts';

type Map = Readonly<Record<string, unknown>>;

const platforms = [
  ['telegram', ['botToken']],
  ['slack', ['appToken', 'botToken']],
  ['discord', ['botToken']],
  ['whatsapp', []],
] as const;
/** Names in the map that are no channels. */
const shared = new Set(['defaults', 'modelByChannel']);

export function channelsOf(channels: Map, leftOut: LeftOut): FoundChannel[] {
  for (const name of Object.keys(channels).slice(0, 100))
    if (!shared.has(name) && !platforms.some(([known]) => known === name))
      leftOut.add(`channel ${name}`, 'Lodge has no such channel');
  return platforms.flatMap(([name, secrets]) => {
    const settings = mapOf(channels[name]);
    if (Object.keys(settings).length === 0) return [];
    const own = ofAccount(name, settings, leftOut);
    return [{ name, secrets, settings: { enabled: own['enabled'] !== false, access: accessOf(own) } }];
  });
}

/** A channel may have several accounts, which share what the channel says. An agent has one. */
function ofAccount(channel: string, settings: Map, leftOut: LeftOut): Map {
  const accounts = mapOf(settings['accounts']);
  const names = Object.keys(accounts);
  const chosen = textOf(settings['defaultAccount']) ?? (names.includes('default') ? 'default' : names[0]);
  for (const name of names.slice(0, 100))
    if (name !== chosen) leftOut.add(`${channel} account ${name}`, 'an agent has one account of a channel');
  return chosen === undefined ? settings : { ...settings, ...mapOf(accounts[chosen]) };
}

function accessOf(settings: Map): Access {
  const groups = mapOf(settings['groups']);
  // Older releases of OpenClaw have a part for direct messages.
  const direct = mapOf(settings['dm']);
  const policy = settings['groupPolicy'];
  const everyGroup = mapOf(groups['*']);
  const senders = entriesOf(settings['allowFrom'] ?? direct['allowFrom']);
  return {
    mode: modeOf(settings['dmPolicy'] ?? direct['policy']),
    // The platform's id, without the platform.
    allow_from: senders.map((each) => each.replace(/^(?:telegram|tg|slack|discord|whatsapp|user):/i, '')),
    groups: {
      mode: policy === 'open' || policy === 'disabled' ? policy : 'allowlist',
      allow: entriesOf(Object.keys(groups)),
      require_mention: everyGroup['requireMention'] !== false,
    },
  };
}
