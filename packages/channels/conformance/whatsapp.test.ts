import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { Account, Group, Person, WhatsAppStub } from '@lodge/testkit/whatsapp';
import { createWhatsApp } from '../src/whatsapp/whatsapp.ts';
import '../src/whatsapp/testing/timers.ts';
import { describePlatform } from './suite.ts';
import type { AccountUnderTest, PlatformUnderTest, SentByAgent, UserMessage, Written } from './under-test.ts';

const abilities = {
  acknowledges: true,
  groups: true,
  threads: false,
  bots: false,
  files: true,
  limitsSends: false,
  // Edits are marked there, and a deleted message leaves a note.
  progress: false,
  buttons: false,
  deafWithinMs: 6_000,
  // A device that is not paired yet has nothing to revoke: linking.test.ts has the case.
  revokes: false,
};

describePlatform('WhatsApp', abilities, async (): Promise<PlatformUnderTest> => {
  const stub = await startWhatsAppStub();
  stub.misbehave.fewPreKeys = true;
  const platform = createWhatsApp({
    url: stub.url,
    mediaUrl: stub.media.url,
    certificateRoot: stub.root,
    timings: {
      backoff: { firstMs: 50, maxMs: 300, stableMs: 2_000 },
      connectTimeoutMs: 3_000,
      pingEveryMs: 1_000,
      queryTimeoutMs: 3_000,
      freshAfterMs: 2_500,
    },
  });
  let accounts = 0;
  return {
    platform,
    account: async () => accountOf(stub, (accounts += 1)),
    stop: () => stub.close(),
  };
});

function accountOf(stub: WhatsAppStub, number: number): AccountUnderTest {
  const account = stub.account(`155510${String(number).padStart(5, '0')}`, 'Agent');
  const direct = stub.person(`155520${String(number).padStart(5, '0')}`, 'User');
  let group: Group | null = null;
  const sent = (): readonly SentByAgent[] => sentTo(stub, direct);
  return {
    credentials: {},
    secrets: [],
    wrong: [],
    admit: (state) => {
      if (state.status === 'pending_pairing' && state.code?.qr) stub.scan(account, state.code.qr);
    },
    userWrites: async (message) => {
      direct.name = message.from?.name ?? 'User';
      if (message.in === 'group') group ??= stub.group(message.groupName ?? 'Group', [account.phone, direct]);
      return write(stub, account, direct, message.in === 'group' ? group : null, message);
    },
    sent,
    typings: () => direct.sawTyping.length,
    acknowledged: ({ id }: Written) =>
      account.receipts.some((receipt) => receipt.id === id && receipt.type !== 'retry'),
    calls: () => stub.handshakes + stub.stanzas,
    misbehave: async ({ do: what }) => {
      switch (what) {
        case 'unreachable':
          stub.misbehave.refusesConnections = true;
          return stub.dropConnections();
        case 'mend':
          stub.misbehave.refusesConnections = false;
          stub.misbehave.acknowledges = 'well';
          return;
        case 'deaf':
          return stub.deafen(account);
        case 'redeliver':
          return stub.repeat(account);
        case 'revoke':
          return stub.unlink(account);
        case 'unclear_next_send':
          stub.misbehave.acknowledges = 'breaks_once';
          return;
        case 'limit_next_send':
        case 'limit_next_edit':
      }
    },
  };
}

const sentTo = (stub: WhatsAppStub, person: Person): readonly SentByAgent[] =>
  person.shown.map(({ group, from, text, message }) => ({
    place: group ?? from,
    text,
    file: stub.media.fileOf(message),
  }));

async function write(
  stub: WhatsAppStub,
  account: Account,
  from: Person,
  group: Group | null,
  message: UserMessage,
): Promise<Written> {
  const own = from.shown.filter((shown) => shown.group === (group?.jid ?? null)).at(-1);
  const options = {
    ...(message.mention && { mentions: [account] }),
    ...(message.repliesToAgent && own && { answers: { id: own.id, author: account } }),
  };
  if (message.file) Object.assign(options, { message: stub.media.put({ ...message.file, caption: message.text }) });
  const text = message.mention ? `@${account.phone.lidNumber} ${message.text}` : message.text;
  const id = group
    ? await stub.writeInGroup(from, group, text, options)
    : await stub.write(from, account, text, options);
  return { id, place: group?.jid ?? account.phone.number };
}
