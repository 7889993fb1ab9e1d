/** Answers to what a device asks the server. */
import type { BinaryNode } from 'baileys';
import type { Account } from './account.ts';
import type { Directory } from './directory.ts';
import type { MediaServer } from './media.ts';
import { childOf, childrenOf, node, server, userOf } from './nodes.ts';

/** The content of the result; null: an empty result, with which the server accepts most settings. */
export async function answerTo(
  iq: BinaryNode,
  account: Account,
  directory: Directory,
  fewPreKeys: boolean,
): Promise<BinaryNode[] | null> {
  const first = childrenOf(iq)[0];
  switch (iq.attrs['xmlns'] ?? '') {
    case 'encrypt':
      return answerKeys(iq, first, account, directory, fewPreKeys ? 1 : 0);
    case 'usync':
      return [devicesOf(childOf(iq, 'usync'), directory)];
    case 'w:g2':
      return groupOf(iq, directory);
    case 'w:mex':
      return [node('result', {}, Buffer.from(JSON.stringify(restrictionOf(account))))];
    case 'abt':
      return [node('props', { hash: 'stub' }, [])];
    default:
      return null;
  }
}

async function answerKeys(
  iq: BinaryNode,
  first: BinaryNode | undefined,
  account: Account,
  directory: Directory,
  atLeast: number,
): Promise<BinaryNode[] | null> {
  if (iq.attrs['type'] === 'set') {
    account.device!.takeKeys(iq);
    return null;
  }
  switch (first?.tag ?? '') {
    case 'count':
      return [node('count', { value: String(Math.max(atLeast, account.device!.preKeys.length)) })];
    case 'digest':
      return [node('digest', {}, [])];
    case 'key': {
      const users: BinaryNode[] = [];
      for (const { attrs } of childrenOf(first, 'user')) {
        const person = directory.personOf(attrs['jid']!);
        users.push(
          person
            ? await person.bundle(attrs['jid']!)
            : node('user', { jid: attrs['jid']! }, [node('error', { code: '404', text: 'item-not-found' })]),
        );
      }
      return [node('list', {}, users)];
    }
    default:
      return null;
  }
}

/** Which devices a person has: the phone, and the linked one of an account. */
function devicesOf(usync: BinaryNode | undefined, directory: Directory): BinaryNode {
  const users = childrenOf(childOf(usync, 'list'), 'user').map((user) => {
    const jid = user.attrs['jid'] ?? '';
    const person = directory.personOf(jid);
    const device = directory.accountOf(jid)?.device;
    const devices = [node('device', { id: '0' })];
    if (device) devices.push(node('device', { id: String(device.id), 'key-index': '1' }));
    const lid = person && jid.endsWith(server) ? [node('lid', { val: person.lid })] : [];
    return node('user', { jid }, [node('devices', {}, [node('device-list', {}, person ? devices : [])]), ...lid]);
  });
  return node('usync', {}, [node('result', {}), node('list', {}, users)]);
}

function groupOf(iq: BinaryNode, directory: Directory): BinaryNode[] {
  const group = directory.groups.get(iq.attrs['to']!);
  if (!group) return [node('error', { code: '404', text: 'item-not-found' })];
  const members = group.members.map((member) =>
    node('participant', { jid: member.jid, lid: member.lid, phone_number: member.jid }),
  );
  const attrs = {
    id: userOf(group.jid),
    subject: group.title,
    creation: '1700000000',
    s_t: '1700000000',
    addressing_mode: 'pn',
  };
  return [node('group', attrs, members)];
}

const restrictionOf = (account: Account): object => ({
  data: {
    xwa2_fetch_account_reachout_timelock: account.restricted
      ? {
          is_active: true,
          time_enforcement_ends: String(Math.floor(Date.now() / 1000) + 3600),
          enforcement_type: 'DEFAULT',
        }
      : { is_active: false },
  },
});

/** Leave to upload, and where: hosts near the device, then the one that everybody knows. */
export const mediaConn = (media: MediaServer): BinaryNode =>
  node('media_conn', { auth: media.giveLeave(), ttl: '300', auth_ttl: '21600', max_buckets: '12' }, [
    node('host', { hostname: 'media-fra3-1.cdn.whatsapp.net', type: 'primary' }),
    node('host', { hostname: 'mmg.whatsapp.net', type: 'fallback' }),
  ]);
