/**
 * Tells the relays of one database that a mailbox may have changed. The notice is a hint, and nothing is lost without it.
 */
export interface MailboxNotices {
  /**
   * Notifies every relay, this one included, of at most 1,000 addresses of at most 320 characters. Rejects when nobody could
   * be notified.
   */
  tell(addresses: readonly string[]): Promise<void>;
  /** Calls back with an address. Null means that any mailbox may have changed, because notices were lost for a while. */
  on(listener: (address: string | null) => void): () => void;
}
