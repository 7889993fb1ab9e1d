/** The steps of setting up a channel, platform by platform. The guides in the documents say more. */
import type { ReactNode } from 'react';
import { CopyBlock } from '../../../components/shown/copy-block.tsx';
import { OutwardLink } from '../../../components/shown/links.tsx';
import type { ChannelName } from './channel-names.ts';
import { slackManifest } from './slack-manifest.ts';

export interface SecretField {
  readonly name: 'appToken' | 'botToken';
  readonly label: string;
  readonly hint: string;
}

interface Platform {
  readonly summary: string;
  readonly secrets: readonly SecretField[];
  readonly steps: readonly ReactNode[];
  /** How senders and groups are named in the lists of who may write. */
  readonly senderHint: string;
  readonly groupHint: string;
  readonly warning?: ReactNode;
}

const say = (words: string): ReactNode => <strong className="font-medium text-ink">{words}</strong>;

export const platforms: Readonly<Record<ChannelName, Platform>> = {
  slack: {
    summary: 'People write to a Slack app, directly or in channels.',
    secrets: [
      { name: 'appToken', label: 'App-level token', hint: 'Begins with xapp-. It is under Basic Information.' },
      { name: 'botToken', label: 'Bot user OAuth token', hint: 'Begins with xoxb-. It is under OAuth & Permissions.' },
    ],
    steps: [
      <>
        Open <OutwardLink href="https://api.slack.com/apps">api.slack.com/apps</OutwardLink>, press{' '}
        {say('Create New App')}, then {say('From a manifest')}, and choose your workspace.
      </>,
      <div className="flex flex-col gap-2">
        <span>Put this in the place of the manifest that is shown, as JSON. Change both names as you like.</span>
        <CopyBlock label="Manifest of the Slack app" value={slackManifest} />
      </div>,
      <>
        Press {say('Next')}, then {say('Create')}.
      </>,
      <>
        Under {say('Basic Information')}, {say('App-Level Tokens')}, press {say('Generate Token and Scopes')}, add the
        scope {say('connections:write')} and copy the token.
      </>,
      <>
        Under {say('Install App')} press {say('Install to Workspace')}, then {say('Allow')}.
      </>,
      <>
        Under {say('OAuth & Permissions')} copy the {say('Bot User OAuth Token')}.
      </>,
      <>
        In Slack, open the app under {say('Apps')} and write “Hello” in its {say('Messages')} tab.
      </>,
    ],
    senderHint: 'Member ids of Slack, such as U012AB3CD, one a line.',
    groupHint: 'Channel ids of Slack, such as C012AB3CD, one a line.',
  },
  discord: {
    summary: 'People write to a bot, directly or in servers.',
    secrets: [{ name: 'botToken', label: 'Bot token', hint: 'Under Bot, Reset Token. Discord shows it once.' }],
    steps: [
      <>
        Open{' '}
        <OutwardLink href="https://discord.com/developers/applications">
          discord.com/developers/applications
        </OutwardLink>
        , press {say('New Application')}, name it and press {say('Create')}.
      </>,
      <>
        Open {say('Bot')}, press {say('Reset Token')} and copy the token. Leave the three switches under{' '}
        {say('Privileged Gateway Intents')} off.
      </>,
      <>
        Copy the {say('Application ID')} under {say('General Information')}.
      </>,
      <div className="flex flex-col gap-2">
        <span>Open this address with your id in it, choose your server and press {say('Authorize')}.</span>
        <CopyBlock
          label="Invitation of the bot"
          value="https://discord.com/oauth2/authorize?client_id=<application id>&scope=bot&permissions=274878008320"
        />
      </div>,
      <>In your server, press the bot’s name in the list of members and write “Hello”.</>,
      <>
        Shall it answer without being mentioned? Then switch on {say('Message Content Intent')} under {say('Bot')}{' '}
        first.
      </>,
    ],
    senderHint: 'User ids of Discord, one a line.',
    groupHint: 'Channel ids of Discord, one a line.',
  },
  telegram: {
    summary: 'People write to a bot, directly or in groups.',
    secrets: [{ name: 'botToken', label: 'Bot token', hint: 'A number, a colon and some 35 characters.' }],
    steps: [
      <>
        In Telegram, write to <OutwardLink href="https://t.me/botfather">@BotFather</OutwardLink>. Mind the name: others
        look like it.
      </>,
      <>Send {say('/newbot')}.</>,
      <>Send the bot’s name, as people shall see it.</>,
      <>Send the bot’s username: 5 to 32 Latin letters, digits and underscores, with {say('bot')} at the end.</>,
      <>@BotFather answers with the token. Copy it here: who has the token has the bot.</>,
      <>Open the bot in Telegram, press {say('Start')} and write “Hello”.</>,
      <>
        In a group the bot sees mentions and answers alone. Shall it read everything? Then send {say('/setprivacy')} to
        @BotFather, press {say('Disable')}, and add the bot to the group anew.
      </>,
    ],
    senderHint: 'User ids of Telegram (numbers), one a line.',
    groupHint: 'Chat ids of Telegram groups (they begin with a minus), one a line.',
  },
  whatsapp: {
    summary: 'A linked device of a phone, as WhatsApp Web is.',
    secrets: [],
    steps: [
      <>Take a phone with WhatsApp and a number of the agent’s own: a second SIM or eSIM.</>,
      <>Turn the channel on here, and show the code.</>,
      <>
        On the phone, open {say('Settings')}, then {say('Linked devices')} (on Android in the menu with three dots).
      </>,
      <>Tap {say('Link a device')} and scan the code. It changes every 20 seconds.</>,
      <>The device appears on the phone as {say('Google Chrome (Ubuntu)')}.</>,
      <>From another phone, write “Hello” to the agent’s number.</>,
    ],
    senderHint: 'Phone numbers with a plus, such as +15557654321, or ids that end in @lid, one a line.',
    groupHint: 'Group ids, which end in @g.us, one a line.',
    warning: (
      <>
        WhatsApp’s terms forbid automated use of ordinary accounts: it can restrict or ban the number. Never use a
        number that you need. The linked device reads all chats of the account.
      </>
    ),
  },
  gmail: {
    summary: 'The agent answers the mail of a mailbox of its own.',
    secrets: [],
    steps: [
      <>
        Once, the operator of this Lodge makes an OAuth client at Google and sets {say('LODGE_GOOGLE_CLIENT_ID')} and{' '}
        {say('LODGE_GOOGLE_CLIENT_SECRET')} (
        <OutwardLink href="https://developers.google.com/workspace/guides/create-credentials">at Google</OutwardLink>).
      </>,
      <>Turn the channel on here and press {say('Connect mailbox')}. A page of Lodge opens; agree there.</>,
      <>Sign in at Google {say('as the mailbox')}, and leave every box ticked.</>,
      <>This page shows the mailbox’s address as soon as it is connected.</>,
      <>Write to the mailbox from another address.</>,
      <>
        In {say('Testing')} Google ends each consent after 7 days: the client’s audience must be {say('Internal')} or{' '}
        {say('In production')}.
      </>,
    ],
    senderHint: 'Mail addresses, one a line.',
    groupHint: 'Mail has no groups.',
    warning: <>Give the agent a mailbox of its own: it sees every mail in the inbox.</>,
  },
};
