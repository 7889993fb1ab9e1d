import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startSlackStub } from '@lodge/testkit/slack';
import type { SlackStub } from '@lodge/testkit/slack';
import { formsOf, pressOf } from './choices.ts';
import { connectedTo } from './testing/world.ts';

const payload = {
  type: 'block_actions',
  user: { id: 'U1', username: 'ann', name: 'Ann', team_id: 'T1' },
  channel: { id: 'C1', name: 'general' },
  message: { type: 'message', ts: '1.000002', thread_ts: '1.000001', text: 'May I?', blocks: [{ type: 'actions' }] },
  actions: [{ type: 'button', action_id: 'lodge_0', value: 'yes-1' }],
};

test('a press is one of its thread, and of the person whom Slack names', () => {
  const of = (more: object) => pressOf({ ...payload, ...more });
  const { press, bare } = of({})!;
  assert.deepEqual(press, {
    token: 'yes-1',
    sender: { id: 'U1', name: 'Ann', isBot: false },
    conversation: { id: 'C1/1.000001', kind: 'group' },
    messageId: '1.000002',
  });
  assert.deepEqual(bare, { text: 'May I?', blocks: [] });
  // The first message of a thread names itself.
  const first = { ...payload.message, thread_ts: '1.000002' };
  assert.equal(of({ message: first, channel: { id: 'D1' } })!.press.conversation.id, 'D1');
  for (const wrong of [
    { type: 'view_submission' },
    { user: null },
    { user: { id: {} } },
    { message: undefined, view: {} },
    { message: { ...payload.message, ts: '../1' } },
    { channel: { id: {} } },
    { actions: [] },
    { actions: 'x' },
    { actions: [{ type: 'button', action_id: 'x' }] },
    { actions: [{ type: 'button', value: 'x'.repeat(65) }] },
    { actions: [{ type: 'static_select', value: 'yes-1' }] },
  ]) {
    assert.equal(of(wrong), null, JSON.stringify(wrong));
  }
  for (const wrong of [null, [], 'x', {}]) assert.equal(pressOf(wrong), null);
});

test('a text with choices has a form without Markdown, whose sections are no longer than Slack takes', () => {
  const forms = formsOf({ text: `**a** <!channel> & b\n${'<&> '.repeat(2_500)}`, format: 'markdown' }, [
    { token: 't', label: 'Allow' },
  ]);
  assert.equal(forms.length, 2);
  const [, plain] = forms as readonly { readonly text: string; readonly blocks: readonly any[] }[];
  const sections = plain!.blocks.filter(({ type }) => type === 'section');
  assert.ok(sections.length > 1);
  assert.ok(plain!.text.startsWith('*a* &lt;!channel&gt; &amp; b'));
  assert.equal(plain!.blocks.at(-1).elements[0].value, 't');
});

describe('presses of a Slack app', { timeout: 30_000 }, () => {
  let stub: SlackStub;
  before(async () => {
    stub = await startSlackStub();
  });
  after(() => stub.close());

  const to = {
    conversationId: 'D0001',
    conversationKind: 'direct',
    replyTo: null,
    index: 0,
    count: 1,
    sentIds: [],
  } as const;
  const part = {
    kind: 'text',
    text: '**May** I?',
    format: 'markdown',
    choices: [{ token: 'yes-1', label: 'Allow' }],
  } as const;

  test('blocks that Slack does not take go in its own marks, with their buttons, also when they are replaced', async (t) => {
    const { app, host, connection } = await connectedTo(stub, t);
    stub.write(app, { channel: 'D0001', text: 'do it' });
    await host.message('do it');
    const signal = AbortSignal.timeout(5_000);
    stub.fail({ method: 'chat.postMessage', error: 'invalid_blocks' });
    const { id: ts } = await connection.send(to, part, 'key', signal);
    assert.equal(app.sent.at(-1)!.text, '*May* I?');
    assert.deepEqual(
      app.sent.at(-1)!.blocks!.map(({ type }) => type),
      ['section', 'actions'],
    );
    stub.fail({ method: 'chat.update', error: 'invalid_blocks' });
    await connection.closeChoices!(to, ts, { text: '**Allowed** by <!here>', format: 'markdown' }, signal);
    const shown = app.channels.get('D0001')!.messages.find((each) => each.ts === ts)!;
    assert.equal(shown.text, '*Allowed* by &lt;!here&gt;');
    assert.equal(app.broadcasts, 0);
    await connection.closeChoices!(to, '1.000001', { text: 'x', format: null }, signal);
  });

  test('a press is acknowledged after its commit alone, and what is no press at once', async (t) => {
    const { app, host, connection, events } = await connectedTo(stub, t);
    stub.write(app, { channel: 'D0001', text: 'do it' });
    await host.message('do it');
    const { id: ts } = await connection.send(to, part, 'key', AbortSignal.timeout(5_000));
    host.behaviour = 'hang';
    const press = stub.press(app, { channel: 'D0001', ts, label: 'Allow' });
    await host.until(() => host.presses.length === 1, 'the press');
    const other = events.interact({ type: 'view_submission', view: {} });
    const odd = stub.press(app, { channel: 'D0001', ts, label: 'Allow', extra: { actions: [{ value: {} }] } });
    await host.until(() => events.acknowledged.includes(odd), 'the acknowledgement');
    assert.ok(events.acknowledged.includes(other));
    assert.ok(!events.acknowledged.includes(press));
    host.behaviour = 'commit';
    const again = stub.press(app, { channel: 'D0001', ts, label: 'Allow' });
    await host.until(() => app.ephemerals.length === 1, 'the answer');
    assert.ok(events.acknowledged.includes(again));
  });
});
