/** The address of a guest's daemon, and the credential by which it recognises the host. */
export interface GuestAddress {
  readonly address: string;
  /**
   * Returns the credential by which the daemon recognises the host (`VmDriver.guestCredential`). It is fetched for each
   * call, so a late call to another agent's guest at this address does not carry that guest's credential. Null when the
   * daemon was given none.
   */
  readonly credential: () => Promise<string | null>;
  /** Factor by which the guest's own work may take longer (`VmDriver.pace`); 1 when unknown. */
  readonly pace?: number;
}
