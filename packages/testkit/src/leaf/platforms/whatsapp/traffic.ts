/** Messages in both directions: what persons write to an account, and what its device sends to their phones. */
import type { BinaryNode, proto } from 'baileys';
import type { Account, Device } from './account.ts';
import type { Directory, Group } from './directory.ts';
import { bytesOf, childOf, childrenOf, node, seconds, userOf } from './nodes.ts';
import { newMessageId } from './person.ts';
import type { Person, Sealed } from './person.ts';

export interface WriteOptions {
  readonly id?: string;
  readonly sentAt?: Date;
  /** How the sender is named in the stanza. Default `pn`. */
  readonly addressing?: 'pn' | 'lid';
  /** In groups: names the account in the text. */
  readonly mentions?: readonly Account[];
  /** The message that this one answers. */
  readonly answers?: { readonly id: string; readonly author: Account };
  /** In the place of text. */
  readonly message?: proto.IMessage;
}

/** Writes to an account from a person's phone. Gives the message's id. */
export async function write(
  person: Person,
  account: Account,
  text: string,
  options: WriteOptions = {},
): Promise<string> {
  const id = options.id ?? newMessageId();
  const device = deviceOf(account);
  const send = async (anew: boolean): Promise<void> => {
    const sealed = await person.seal(device.jid, () => account.takeBundle(), messageOf(text, options), anew);
    account.deliver(node('message', attrsOf(person, id, options), [enc(sealed)]));
  };
  account.resend.set(id, () => send(true));
  await send(false);
  return id;
}

/** Writes into a group; every account in it gets the message with the writer's sender key. */
export async function writeInGroup(
  person: Person,
  group: Group,
  accounts: readonly Account[],
  text: string,
  options: WriteOptions = {},
): Promise<string> {
  const id = options.id ?? newMessageId();
  const { ciphertext, distribution } = await person.sealForGroup(group.jid, messageOf(text, options));
  for (const account of accounts) {
    const device = deviceOf(account);
    const key = {
      senderKeyDistributionMessage: { groupId: group.jid, axolotlSenderKeyDistributionMessage: distribution },
    };
    const send = async (anew: boolean): Promise<void> => {
      const content = [node('enc', { v: '2', type: 'skmsg' }, ciphertext)];
      const known = person.knowsGroupKey(group.jid, device.jid);
      if (!known || anew) content.unshift(enc(await person.seal(device.jid, () => account.takeBundle(), key, anew)));
      const { from, ...attrs } = attrsOf(person, id, options);
      const alt = options.addressing === 'lid' ? { participant_pn: person.jid } : { participant_lid: person.lid };
      account.deliver(node('message', { ...attrs, from: group.jid, participant: from!, ...alt }, content));
    };
    account.resend.set(id, () => send(true));
    await send(false);
  }
  return id;
}

/** Delivers a device's stanza to the phones that it encrypted for. */
export async function carry(account: Account, stanza: BinaryNode, directory: Directory): Promise<void> {
  const device = deviceOf(account);
  const group = directory.groups.get(stanza.attrs['to']!);
  for (const to of childrenOf(childOf(stanza, 'participants'), 'to')) {
    const person = directory.personOf(to.attrs['jid']!);
    const sealed = childOf(to, 'enc');
    if (person && sealed && isPhone(to.attrs['jid']!)) await read(person, device, account, stanza, sealed);
  }
  const alone = childrenOf(stanza, 'enc');
  for (const sealed of alone) {
    if (group && sealed.attrs['type'] === 'skmsg') {
      for (const member of group.members.filter((each) => each !== account.phone)) {
        await readOfGroup(member, device, account, stanza, sealed, group);
      }
    } else {
      const person = directory.personOf(stanza.attrs['participant'] ?? stanza.attrs['to']!);
      if (person) await read(person, device, account, stanza, sealed);
    }
  }
}

async function read(
  person: Person,
  device: Device,
  account: Account,
  stanza: BinaryNode,
  sealed: BinaryNode,
): Promise<void> {
  const id = stanza.attrs['id']!;
  try {
    const message = await person.open(device.jid, sealed.attrs['type']!, bytesOf(sealed));
    const inner = message.deviceSentMessage?.message ?? message;
    const group = stanza.attrs['to']!.endsWith('@g.us') ? stanza.attrs['to']! : null;
    if (inner.senderKeyDistributionMessage && Object.keys(inner).length === 1) return;
    show(person, account, id, group, inner);
  } catch (error) {
    person.unreadable.push(`${id}: ${(error as Error).message}`);
    const attrs = { id, from: person.jid, type: 'retry', t: seconds() };
    const retry = node('retry', { count: '1', id, t: seconds(), v: '1' });
    account.link?.send(node('receipt', attrs, [retry, node('registration', {}, Buffer.alloc(4))]));
  }
}

async function readOfGroup(
  person: Person,
  device: Device,
  account: Account,
  stanza: BinaryNode,
  sealed: BinaryNode,
  group: Group,
): Promise<void> {
  try {
    const message = await person.openOfGroup(group.jid, device.jid, bytesOf(sealed));
    show(person, account, stanza.attrs['id']!, group.jid, message);
  } catch (error) {
    person.unreadable.push(`${stanza.attrs['id']}: ${(error as Error).message}`);
  }
}

function show(person: Person, account: Account, id: string, group: string | null, message: proto.IMessage): void {
  const text = message.conversation ?? message.extendedTextMessage?.text ?? '';
  const { extendedTextMessage, imageMessage, documentMessage } = message;
  const answers = (extendedTextMessage ?? imageMessage ?? documentMessage)?.contextInfo?.stanzaId ?? null;
  person.show({ id, from: account.phone.number, group, text, answers, message });
}

function attrsOf(person: Person, id: string, { addressing = 'pn', sentAt }: WriteOptions): BinaryNode['attrs'] {
  const who: Record<string, string> =
    addressing === 'pn' ? { from: person.jid, sender_lid: person.lid } : { from: person.lid, sender_pn: person.jid };
  const t = sentAt ? String(Math.floor(sentAt.getTime() / 1000)) : seconds();
  return { id, ...who, type: 'text', t, notify: person.name, addressing_mode: addressing };
}

function messageOf(text: string, { message, mentions = [], answers }: WriteOptions): proto.IMessage {
  if (message) return message;
  if (mentions.length === 0 && !answers) return { conversation: text };
  const contextInfo = {
    mentionedJid: mentions.map(({ phone }) => phone.lid),
    ...(answers && {
      stanzaId: answers.id,
      participant: answers.author.phone.jid,
      quotedMessage: { conversation: '…' },
    }),
  };
  return { extendedTextMessage: { text, contextInfo } };
}

const enc = ({ type, ciphertext }: Sealed): BinaryNode => node('enc', { v: '2', type }, ciphertext);

const isPhone = (jid: string): boolean => !jid.split('@')[0]!.includes(':') || jid.split('@')[0]!.endsWith(':0');

function deviceOf(account: Account): Device {
  if (!account.device) throw new Error(`${userOf(account.phone.jid)} has no linked device`);
  return account.device;
}
