/** One app of the stub, connected, for the tests of this folder. */
import type { TestContext } from 'node:test';
import type { ChannelConnection, Platform } from '@lodge/ports';
import type { SlackApp, SlackStub } from '@lodge/testkit/slack';
import { Kept, TestHost } from '../../../conformance/host.ts';
import type { SlackTimings } from '../connection.ts';
import { createSlack } from '../slack.ts';

const timings = {
  backoff: { firstMs: 20, maxMs: 100, stableMs: 1_000 },
  helloTimeoutMs: 500,
  pingEveryMs: 100,
  deadAfterMs: 400,
  compareAfterMs: 60_000,
  lateMs: 100,
  lookAgainMs: 20,
};

export const platformAt = (stub: SlackStub, more: Partial<SlackTimings> = {}): Platform =>
  createSlack({ apiUrl: stub.apiUrl, callTimeoutMs: 1_000, timings: { ...timings, ...more } });

export async function connectedTo(
  stub: SlackStub,
  t: TestContext,
  {
    app = stub.addApp(),
    wantsUnaddressed = false,
    timings: own = {},
  }: {
    readonly app?: SlackApp;
    readonly wantsUnaddressed?: boolean;
    readonly timings?: Partial<SlackTimings>;
  } = {},
) {
  const { appToken, botToken } = app;
  const host = new TestHost(new Kept({ appToken, botToken }));
  const account = { agentId: 'one', credentials: { appToken, botToken }, wantsUnaddressed, cursor: null };
  const connection: ChannelConnection = platformAt(stub, own).connect(account, host);
  t.after(() => connection.close());
  await host.reaches('connected');
  return { app, host, connection, events: stub.events(app) };
}
