import { SendFailure } from '@lodge/ports';
import type { ChannelReason } from '@lodge/domain';
import { SlackError } from './calls.ts';
import { SocketRefusal } from './socket.ts';
import type { SocketEnd } from './socket.ts';

export type TokenKind = 'app' | 'bot';

const titles: Readonly<Record<TokenKind, string>> = { app: 'app-level token', bot: 'bot token' };

/** Words of Slack that only a person can mend, by what they mean. */
const fatal: Readonly<Record<string, ChannelReason['code']>> = {
  invalid_auth: 'invalid_credentials',
  not_authed: 'invalid_credentials',
  token_revoked: 'revoked',
  token_expired: 'revoked',
  account_inactive: 'revoked',
  user_removed_from_team: 'revoked',
  team_disabled: 'platform_refused',
  forbidden_team: 'platform_refused',
  access_denied: 'platform_refused',
  accesslimited: 'platform_refused',
  org_login_required: 'platform_refused',
  enterprise_is_restricted: 'platform_refused',
  team_access_not_granted: 'platform_refused',
  ekm_access_denied: 'platform_refused',
  not_allowed_token_type: 'wrong_kind_of_credential',
  no_permission: 'missing_permission',
  missing_scope: 'missing_permission',
};

/** Why a person must act, if an error of a token's call shows that; null: it may pass by itself. */
export function fatalReason(error: unknown, kind: TokenKind): ChannelReason | null {
  if (!(error instanceof SlackError) || error.kind !== 'refused') return null;
  const code = fatal[error.code];
  return code === undefined ? null : { code, message: sentenceOf(code, error, kind) };
}

function sentenceOf(code: ChannelReason['code'], { code: word, needed }: SlackError, kind: TokenKind): string {
  const token = titles[kind];
  const sentences: Partial<Record<ChannelReason['code'], string>> = {
    invalid_credentials: `Slack does not know the ${token}. Copy it again from the app's pages at api.slack.com/apps.`,
    revoked: `Slack says that the ${token} is no longer valid (${word}). Install the app again and give the new token.`,
    wrong_kind_of_credential: wrongKind[kind],
    missing_permission: missingScopes([needed ?? 'that the call needs'], kind),
  };
  return sentences[code] ?? `Slack refuses the ${token} (${word}). Ask an administrator of the workspace.`;
}

const wrongKind: Readonly<Record<TokenKind, string>> = {
  app: 'The appToken is not an app-level token. It begins with "xapp-" and is made under Basic Information.',
  bot: 'The botToken is not a bot token. It begins with "xoxb-" and stands under OAuth & Permissions.',
};

export function missingScopes(scopes: readonly string[], kind: TokenKind): string {
  const named = scopes.join(', ');
  return kind === 'app'
    ? `The app-level token lacks the scope ${named}. Make a new one with the scope connections:write.`
    : `The Slack app lacks the bot scope ${named}. Add it under OAuth & Permissions and install the app again.`;
}

/** Why a connection is not open that will be opened again. */
export function passingReason(error: unknown): ChannelReason {
  if (error instanceof SocketRefusal && error.end === 'too_many') return lostReasons.too_many;
  if (error instanceof SlackError && error.kind === 'limited') {
    return { code: 'rate_limited', message: 'Slack asks to wait. It is tried again by itself.' };
  }
  const word = error instanceof SlackError && error.kind === 'refused' ? ` (${error.code})` : '';
  return { code: 'platform_unreachable', message: `Slack cannot be reached${word}. It is tried again by itself.` };
}

const unreachable = (message: string): ChannelReason => ({ code: 'platform_unreachable', message });

export const lostReasons: Readonly<Record<Exclude<SocketEnd, 'refresh' | 'disabled'>, ChannelReason>> = {
  full: {
    code: 'relay_down',
    message: 'Messages came faster than they could be kept. They are read again by themselves.',
  },
  closed: unreachable('The connection to Slack ended. It is opened again by itself.'),
  dead: unreachable('Slack answered nothing for too long. The connection is opened again by itself.'),
  deaf: { code: 'deaf', message: 'The connection was open and Slack delivered nothing. It is opened again by itself.' },
  too_many: {
    code: 'used_elsewhere',
    message: 'The Slack app has 10 connections open, the most there are. Something else uses its tokens.',
  },
};

/** How long a part waits when the token itself is refused: a person has to act. */
const untilMendedMs = 60_000;

export function sendFailureOf(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  if (!(error instanceof SlackError)) return new SendFailure('unknown', 'Slack gave no answer.');
  switch (error.kind) {
    case 'limited':
      return new SendFailure('retry', 'Slack asks to wait.', { retryAfterMs: error.retryAfterMs });
    case 'unreached':
      return new SendFailure('retry', 'Slack cannot be reached.');
    case 'unclear':
      return new SendFailure('unknown', `Slack gave no clear answer (${error.code}).`);
    case 'refused': {
      const reason = fatalReason(error, 'bot');
      if (reason && error.code !== 'no_permission') {
        return new SendFailure('retry', reason.message, { retryAfterMs: untilMendedMs });
      }
      return new SendFailure('refused', refusedSentences[error.code] ?? `Slack refused the message (${error.code}).`);
    }
  }
}

const refusedSentences: Readonly<Record<string, string>> = {
  channel_not_found: 'The Slack conversation is gone, or the app is no longer in it.',
  not_in_channel: 'The app is no longer a member of the Slack channel.',
  is_archived: 'The Slack channel is archived.',
  restricted_action: 'The workspace does not let the app write in this channel.',
  msg_too_long: 'The message is longer than Slack takes.',
  messages_tab_disabled: "The app's messages tab is off. Switch it on under App Home.",
};
