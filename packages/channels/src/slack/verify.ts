import { ChannelFailure } from '@lodge/ports';
import type { ChannelSecrets, Verified } from '@lodge/ports';
import { isJsonObject } from '@lodge/domain';
import type { ChannelReason } from '@lodge/domain';
import { idOf, plainName, textOf } from '../shared/plain.ts';
import { callSlack, listOf } from './calls.ts';
import type { SlackAnswer, SlackApi } from './calls.ts';
import { fatalReason, missingScopes, passingReason } from './reasons.ts';
import type { TokenKind } from './reasons.ts';

/** The bot's identity in its workspace. */
export interface SlackSelf {
  readonly teamId: string;
  readonly userId: string;
  readonly botId: string;
  readonly name: string;
}

/** Without these the agent cannot read or answer somewhere. Others of the manifest give names and signs alone. */
export const neededScopes = [
  'app_mentions:read',
  'channels:history',
  'chat:write',
  'files:read',
  'files:write',
  'groups:history',
  'im:history',
  'mpim:history',
  'users:read',
] as const;

export async function verifySlack(api: SlackApi, credentials: ChannelSecrets, signal: AbortSignal): Promise<Verified> {
  const tokens = slackTokens(credentials);
  const { self, scopes } = await whoAmI(api, tokens.bot, signal).catch((error: unknown) => {
    throw failureOf(error, 'bot');
  });
  const missing = scopes === null ? [] : neededScopes.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0) throw failed('missing_permission', missingScopes(missing, 'bot'));
  await callSlack(api, tokens.app, 'apps.connections.open', {}, signal).catch((error: unknown) => {
    throw failureOf(error, 'app');
  });
  await assertSameApp(api, tokens, self, signal);
  return { identity: { id: self.userId, name: self.name }, accountKey: accountKeyOf(self) };
}

export const accountKeyOf = ({ teamId, userId }: SlackSelf): string => `${teamId}/${userId}`;

/** By their first letters, before Slack is asked: its own answer to the wrong kind says less. Throws `ChannelFailure`. */
export function slackTokens(credentials: ChannelSecrets): Readonly<Record<TokenKind, string>> {
  const { appToken: app = '', botToken: bot = '' } = credentials;
  if (!app.startsWith('xapp-')) {
    throw failed('wrong_kind_of_credential', `The appToken must begin with "xapp-": ${kindOf(app)}`);
  }
  if (!bot.startsWith('xoxb-')) {
    throw failed('wrong_kind_of_credential', `The botToken must begin with "xoxb-": ${kindOf(bot)}`);
  }
  for (const [field, token] of Object.entries({ appToken: app, botToken: bot })) {
    if (!isToken(token)) throw failed('invalid_credentials', `The ${field} holds a character that no Slack token has.`);
  }
  return { app, bot };
}

const isToken = (token: string): boolean => /^[\w.%+/=-]{6,1000}$/.test(token);

function kindOf(token: string): string {
  const known = Object.entries({
    'xoxb-': 'this is a bot token.',
    'xapp-': 'this is an app-level token.',
    'xoxp-': 'this is a user token. The bot token stands beside it, under OAuth & Permissions.',
    xoxe: 'this is a token that expires. Switch token rotation off, and give the bot token.',
    'xoxc-': "this is a token of a person's browser.",
    'xoxs-': "this is a token of a person's session.",
  }).find(([prefix]) => token.startsWith(prefix));
  return known?.[1] ?? 'this is not a Slack token.';
}

/** `scopes`: those of the token, or null where Slack did not say. Rejects with `SlackError` or `ChannelFailure`. */
export async function whoAmI(
  api: SlackApi,
  botToken: string,
  signal: AbortSignal,
): Promise<{ readonly self: SlackSelf; readonly scopes: readonly string[] | null }> {
  const answer = await callSlack(api, botToken, 'auth.test', {}, signal);
  const userId = idOf(answer['user_id']);
  const teamId = idOf(answer['team_id']) ?? idOf(answer['enterprise_id']);
  const botId = idOf(answer['bot_id']);
  if (userId === null || teamId === null || botId === null) {
    throw failed('wrong_kind_of_credential', 'The botToken belongs to no bot. Give the Bot User OAuth Token.');
  }
  return { self: { userId, teamId, botId, name: plainName(answer['user'], userId) }, scopes: scopesOf(answer) };
}

function scopesOf({ response_metadata: metadata }: SlackAnswer): readonly string[] | null {
  const scopes = isJsonObject(metadata) ? metadata['scopes'] : undefined;
  return Array.isArray(scopes) ? listOf(scopes, 200).map((scope) => textOf(scope)) : null;
}

/** Tokens of two apps connect, and nothing ever arrives. The app-level token names its app; where it does not, nothing is said. */
async function assertSameApp(
  api: SlackApi,
  tokens: Readonly<Record<TokenKind, string>>,
  self: SlackSelf,
  signal: AbortSignal,
): Promise<void> {
  const [, , ofAppToken = ''] = tokens.app.split('-', 3);
  if (!/^A[A-Z0-9]{3,20}$/.test(ofAppToken)) return;
  const answer = await callSlack(api, tokens.bot, 'bots.info', { bot: self.botId }, signal).catch(() => null);
  const ofBot = answer && isJsonObject(answer['bot']) ? textOf(answer['bot']['app_id']) : '';
  if (ofBot !== '' && ofBot !== ofAppToken) {
    throw failed('wrong_kind_of_credential', 'The two tokens belong to two Slack apps. Take both from the same app.');
  }
}

export const failed = (code: ChannelReason['code'], message: string): ChannelFailure =>
  new ChannelFailure({ code, message });

function failureOf(error: unknown, kind: TokenKind): ChannelFailure {
  if (error instanceof ChannelFailure) return error;
  return new ChannelFailure(fatalReason(error, kind) ?? passingReason(error));
}
