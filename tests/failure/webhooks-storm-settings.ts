/** What the storm of webhooks and its processes have in common. */
export const masterKey = Buffer.alloc(32, 5);
/** Quick ones: a killed process's leases end soon, and what failed is tried again soon. */
export const deliveryBounds = { leaseMs: 1_000, lookEveryMs: 100 };
export const deliveryRetries = { waitsMs: [50, 100, 200, 400, 800], giveUpMs: 600_000 };
