// npm install --save-prod --save-exact @radix-ui/react-dialog
import { Close, Content, Overlay, Portal, Root, Title, Trigger } from "@radix-ui/react-dialog";
import type { Route } from "./+types/dialog";
import "../tailwind.css";

export const meta: Route.MetaFunction = () => [{ title: "Dialog" }];

export default function Dialog() {
  return (
    <main className="h-[200vh] p-6">
      <h1 className="text-3xl">Dialog</h1>
      <Root>
        <Trigger className="underline">Delete</Trigger>
        <Portal>
          <Overlay className="fixed inset-0 bg-black/50" />
          <Content className="fixed inset-x-6 top-1/4 rounded-lg bg-paper p-6" aria-describedby={undefined}>
            <Title className="text-xl">Delete it?</Title>
            <Close className="underline">Cancel</Close>
          </Content>
        </Portal>
      </Root>
    </main>
  );
}
