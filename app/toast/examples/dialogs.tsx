import * as AlertDialog from "@radix-ui/react-alert-dialog";
import * as Dialog from "@radix-ui/react-dialog";
import { useState } from "react";
import { notify } from "../notify";
import { toast } from "../toast";
import "../../tailwind.css";

// The classes of shadcn's components.
const OVERLAY = "fixed inset-0 z-50 bg-black/50";
const CENTER = "fixed top-1/2 left-1/2 z-50 -translate-1/2 bg-paper p-6";
const SIDE = "fixed inset-y-0 right-0 z-50 w-3/4 bg-paper p-6";

export const meta = () => [{ title: "Dialogs" }];

const DIALOGS = [
  { name: "Dialog", className: CENTER },
  { name: "Sheet", className: SIDE },
];

/** Milliseconds. */
const duration = 3_600_000;

export default function ToastDialogs() {
  const [undone, setUndone] = useState(0);
  const action = { label: "Undo", altText: "Undo it in the settings", onClick: () => setUndone(undone + 1) };
  const buttons = (
    <>
      <button type="button" onClick={() => toast({ title: "Saved", action, duration })}>
        Save
      </button>
      <button type="button" onClick={() => notify("Subscribed", { action, duration })}>
        Subscribe
      </button>
    </>
  );
  return (
    <main className="p-6">
      <h1>Dialogs</h1>
      {buttons}
      <output>{undone}</output>
      {DIALOGS.map(({ name, className }) => (
        <Dialog.Root key={name}>
          <Dialog.Trigger>Open {name}</Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Overlay className={OVERLAY} />
            <Dialog.Content className={className} aria-describedby={undefined}>
              <Dialog.Title>{name}</Dialog.Title>
              {buttons}
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
      ))}
      <AlertDialog.Root>
        <AlertDialog.Trigger>Open Alert dialog</AlertDialog.Trigger>
        <AlertDialog.Portal>
          <AlertDialog.Overlay className={OVERLAY} />
          <AlertDialog.Content className={CENTER}>
            <AlertDialog.Title>Alert dialog</AlertDialog.Title>
            <AlertDialog.Description>It can't be undone.</AlertDialog.Description>
            {buttons}
            <AlertDialog.Cancel>Cancel</AlertDialog.Cancel>
          </AlertDialog.Content>
        </AlertDialog.Portal>
      </AlertDialog.Root>
    </main>
  );
}
