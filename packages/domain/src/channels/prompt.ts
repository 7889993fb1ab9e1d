/** Renders messages of a channel for the agent. The sender is data, quoted and marked, and never a part of the text. */
import { hostMessage } from '../host-lines/host-line.ts';
import { channelTitles } from './channel.ts';
import type { ChannelName, ConversationKind } from './channel.ts';

export interface PromptMessage {
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
  readonly sentAt: Date;
  /** Paths below /workspace of its files. */
  readonly files: readonly string[];
  /** Missing files, each with the reason in a few words. */
  readonly missingFiles: readonly string[];
  /** Those of `files` that the model sees, in its order. */
  readonly pictures?: readonly string[];
  /** Those of `files` that are voice notes; `seconds` is null when unknown. */
  readonly voiceNotes?: readonly { readonly path: string; readonly seconds: number | null }[];
}

export interface PromptFrame {
  readonly channel: ChannelName;
  readonly kind: ConversationKind;
  /** The platform's id of the conversation, by which the agent's tools know it. */
  readonly conversationId: string;
  /** The platform's name of a group; null when it has none. */
  readonly title: string | null;
}

/** Characters of a name that are passed on. */
const maxNameChars = 100;
const maxPathChars = 400;
/** Most characters of an id, as the tools accept it. */
const maxIdChars = 512;

/** Returns one text for all waiting messages, oldest first. A line of the host precedes each. */
export function promptOf(frame: PromptFrame, messages: readonly PromptMessage[]): string {
  return messages.map((message) => hostMessage('channel message', factsOf(frame, message), message.text)).join('\n\n');
}

function factsOf({ channel, kind, conversationId, title }: PromptFrame, message: PromptMessage): object {
  const { pictures = [], voiceNotes = [] } = message;
  return {
    channel: channelTitles[channel],
    conversation: kind,
    conversation_id: quoted(conversationId, maxIdChars),
    ...(title !== null && { group_name: quoted(title) }),
    sender_id: quoted(message.senderId),
    sender_name: quoted(message.senderName),
    sent_at: message.sentAt.toISOString(),
    ...(message.files.length > 0 && { files: message.files.map((path) => quoted(path, maxPathChars)) }),
    ...(message.missingFiles.length > 0 && {
      files_not_available: message.missingFiles.map((file) => quoted(file, maxPathChars)),
    }),
    ...(pictures.length > 0 && { pictures_shown: pictures.map((path) => quoted(path, maxPathChars)) }),
    ...(voiceNotes.length > 0 && {
      voice_notes: voiceNotes.map(({ path, seconds }) => ({
        file: quoted(path, maxPathChars),
        ...(seconds !== null && { seconds }),
      })),
    }),
  };
}

/** Returns the text without control characters and line breaks, in bounded length. */
function quoted(text: string, maxChars = maxNameChars): string {
  let plain = '';
  for (const character of text.slice(0, 2 * maxChars)) {
    if (plain.length >= maxChars) break;
    const code = character.codePointAt(0)!;
    plain += code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0x2028 || code === 0x2029 ? ' ' : character;
  }
  return plain;
}
