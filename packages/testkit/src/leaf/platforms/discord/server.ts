/** A bot's view of the stub: its channels and messages, in the platform's own shapes. */

export interface DiscordMessage {
  readonly id: string;
  readonly type: number;
  readonly channel_id: string;
  readonly author: DiscordUser;
  readonly content: string;
  readonly timestamp: string;
  readonly mentions: readonly DiscordUser[];
  readonly attachments: readonly DiscordAttachment[];
  readonly embeds: readonly unknown[];
  readonly webhook_id?: string;
  readonly nonce?: string;
  readonly message_reference?: { readonly message_id: string };
  readonly referenced_message?: DiscordMessage | null;
  readonly components?: readonly DiscordRow[];
}

export interface DiscordRow {
  readonly type: number;
  readonly components: readonly {
    readonly type: number;
    readonly style: number;
    readonly label: string;
    readonly custom_id: string;
  }[];
}

export interface DiscordUser {
  readonly id: string;
  readonly username: string;
  readonly global_name: string | null;
  readonly discriminator: string;
  readonly bot?: boolean;
}

export interface DiscordAttachment {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly content_type: string;
  readonly url: string;
}

/** 0: of a server; 1: direct; 11: a thread. */
export interface DiscordChannel {
  readonly id: string;
  readonly type: 0 | 1 | 11;
  readonly name?: string;
  readonly guild_id?: string;
  readonly parent_id?: string;
}

export interface Place {
  readonly channel: DiscordChannel;
  readonly messages: DiscordMessage[];
  /** The bot may read and write here. */
  isAllowed: boolean;
}

/** One bot, and all that it can see. */
export class DiscordBot {
  readonly applicationId: string;
  readonly user: DiscordUser;
  readonly token: string;
  readonly guildId: string;
  readonly places = new Map<string, Place>();
  readonly files = new Map<string, Buffer>();
  readonly sent: {
    readonly channelId: string;
    readonly message: DiscordMessage;
    readonly file: { name: string; content: Buffer } | null;
  }[] = [];
  readonly typings: string[] = [];
  /** The request bodies of sent messages, with fields that are not shown. */
  readonly bodies: Readonly<Record<string, unknown>>[] = [];
  /** Presses that can be answered: their tokens by their ids. */
  readonly interactions = new Map<string, string>();
  /** Sentences that persons were told, by the ids of their presses. */
  readonly told = new Map<string, string>();
  /** The switch of the developer portal. */
  mayReadContent = true;
  isRevoked = false;

  constructor(number: number) {
    const serial = String(number).padStart(6, '0');
    this.applicationId = `800000000000${serial}`;
    this.guildId = `700000000000${serial}`;
    this.user = { id: `900000000000${serial}`, username: 'agent', global_name: null, discriminator: '0', bot: true };
    this.token = `${Buffer.from(this.applicationId).toString('base64url')}.Gstub1.${'z'.repeat(38)}`;
  }

  place(channel: DiscordChannel): Place {
    const known = this.places.get(channel.id);
    if (known) return known;
    const place = { channel, messages: [], isAllowed: true };
    this.places.set(channel.id, place);
    return place;
  }
}

const epochMs = 1_420_070_400_000;

/** A snowflake of a time, with a number that tells those of one millisecond apart. */
export const snowflake = (ms: number, serial: number): string =>
  String((BigInt(ms - epochMs) << 22n) + BigInt(serial % 4_194_304));
