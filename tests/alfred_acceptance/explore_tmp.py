import asyncio, sys, tempfile, traceback
from pathlib import Path
from alfred_home import *
async def main():
    root=Path(tempfile.mkdtemp())/"p"
    async with open_home(root, LISTEN, CHAT, silent_host, SUM, small='small' in sys.argv) as h:
        h.seed()
        await h.alfred.set_profile(h.who, {"allergies":["nuts"]})
        for m,mode in [("Add eggs to my shopping list","quick"),("add 6 eggs",None),("What can I make with what I have?","explore"),("show me recipes with salad","quick"),("add that one to Tuesday","plan"),("delete all my recipes","quick"),("yes",None),("undo that",None),("plan my whole month","quick"),("add eggs to inventory, then suggest a recipe","quick"),("Make me a weeknight pasta","create")]:
            try:
                o=await h.say(m,mode)
                print("##",m,mode,o.action,o.mode,o.mode_suggestion,[c['node'] for c in o.calls],o.warnings); print(o.message[:1200])
                if o.plan: print([(s.id,s.step_type.value,s.compute) for s in o.plan.steps])
            except Exception as e: traceback.print_exc()
        print(h.states())
asyncio.run(main())
