/** Word between the relays of one database that a mailbox may have changed. A hint: nothing is lost where it is. */
export interface MailboxNotices {
  /** Every relay hears of these, this one too. At most 1,000 addresses of at most 320 characters. Rejects when nobody was told. */
  tell(addresses: readonly string[]): Promise<void>;
  /** With null any mailbox may have changed: nothing was heard for a while. */
  on(listener: (address: string | null) => void): () => void;
}
