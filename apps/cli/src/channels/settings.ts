/** Settings of a channel, as options and as the body of a request. */
import type { PutChannel } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { Run } from '../run.ts';
import { readSecret } from '../secrets.ts';
import { given, integer, readObject, several } from '../values.ts';
import type { channelNames } from '../words.ts';

export type Name = (typeof channelNames)[number];

export interface ChannelSettings {
  readonly botToken?: string | true;
  readonly appToken?: string | true;
  readonly enabled?: 'yes' | 'no';
  readonly access?: string;
  readonly allowFrom?: readonly string[];
  readonly perSenderHourly?: number;
  readonly groups?: string;
  readonly allowGroup?: readonly string[];
  readonly requireMention?: 'yes' | 'no';
  readonly input?: string;
}

export const withSettings = (command: Command): Command =>
  command
    .option('--bot-token [source]', "the bot's token: asked for, or env:NAME, file:PATH, - for stdin")
    .option('--app-token [source]', "Slack's token for Socket Mode, in the same ways")
    .addOption(new Option('--enabled <yes or no>', 'whether it is connected').choices(['yes', 'no']))
    .addOption(
      new Option('--access <mode>', 'who may write directly').choices(['pairing', 'allowlist', 'open', 'disabled']),
    )
    .option('--allow-from <sender>', "a sender, by the platform's id; several times for several", several)
    .option('--per-sender-hourly <count>', 'messages of one sender in an hour', integer(1, 10_000))
    .addOption(new Option('--groups <mode>', 'the groups it answers in').choices(['allowlist', 'open', 'disabled']))
    .option('--allow-group <group>', "a group, by the platform's id; several times for several", several)
    .addOption(new Option('--require-mention <yes or no>', 'whether a group must address it').choices(['yes', 'no']))
    .option('--input <path>', 'a JSON file with more fields of the request, - for stdin');

export async function channelBody(run: Run, settings: ChannelSettings): Promise<PutChannel> {
  const { input, botToken, appToken, enabled, requireMention } = settings;
  const body = input === undefined ? {} : ((await readObject(run, input)) as PutChannel);
  const groups = given({
    mode: settings.groups,
    allow: settings.allowGroup,
    require_mention: requireMention && requireMention === 'yes',
  });
  const access = given({
    mode: settings.access,
    allow_from: settings.allowFrom,
    per_sender_hourly: settings.perSenderHourly,
    groups: Object.keys(groups).length > 0 ? { ...body.access?.groups, ...groups } : undefined,
  });
  return {
    ...body,
    ...(Object.keys(access).length > 0 && { access: { ...body.access, ...access } as PutChannel['access'] }),
    ...(enabled !== undefined && { enabled: enabled === 'yes' }),
    ...(appToken !== undefined && { appToken: await token(run, appToken, 'App token:', '--app-token ') }),
    ...(botToken !== undefined && { botToken: await token(run, botToken, 'Bot token:', '--bot-token ') }),
  };
}

const token = (run: Run, source: string | true, question: string, option: string): Promise<string> =>
  readSecret(run, source === true ? undefined : source, question, option);
