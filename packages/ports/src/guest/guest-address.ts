/** Where the daemon of a guest answers, and how the host is told from whoever else can reach it. */
export interface GuestAddress {
  readonly address: string;
  /**
   * What its daemon knows the host by (`VmDriver.guestCredential`), asked for with each call: a call that comes too late, when
   * another agent's guest has the address, does not carry what that guest knows. Null: the daemon was given none.
   */
  readonly credential: () => Promise<string | null>;
  /** How many times longer its own work may take (`VmDriver.pace`); 1 where nothing says. */
  readonly pace?: number;
}
